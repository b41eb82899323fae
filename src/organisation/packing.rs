//! Texts compressed as PostgreSQL reads them: one OpenPGP message (RFC 4880), which its extension `pgcrypto` opens.
//!
//! Owns that format. Nothing is secret about it: the passphrase is known, and TLS protects what is sent. It is the only
//! compressed format that functions of a server can read, and the server has to read a text to compute its key.

use std::io::{self, Write};

use aes::Aes128;
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha2::{Digest, Sha256};

/// The function `opened` of the schema has it, too.
const PASSPHRASE: &[u8] = b"ixmcp";
/// Version 4, AES-128, and the key is the beginning of the passphrase's SHA-256.
const KEY_PACKET: [u8; 6] = [0xC3, 4, 4, 7, 0, 8];
const BLOCK: usize = 16;
/// Bytes before the content by which a reader recognizes the key: a block, and its last two again.
const PREFIX: [u8; BLOCK + 2] = [0; BLOCK + 2];

const ENCRYPTED: u8 = 0xC9;
const COMPRESSED: u8 = 0xC8;
const LITERAL: u8 = 0xCB;
const ZLIB: u8 = 2;
/// A format (binary), no name and no date.
const OF_LITERAL: [u8; 6] = [b'b', 0, 0, 0, 0, 0];

/// The texts, one after the other, as a message.
pub(super) fn packed(texts: &[&str]) -> io::Result<Vec<u8>> {
    let size: usize = texts.iter().map(|text| text.len()).sum();
    let mut encoder = ZlibEncoder::new(vec![ZLIB], Compression::default());
    encoder.write_all(&head(LITERAL, OF_LITERAL.len() + size)?)?;
    encoder.write_all(&OF_LITERAL)?;
    for text in texts {
        encoder.write_all(text.as_bytes())?;
    }
    let compressed = encoder.finish()?;
    let head_of_compressed = head(COMPRESSED, compressed.len())?;
    let content = PREFIX.len() + head_of_compressed.len() + compressed.len();
    let mut message = KEY_PACKET.to_vec();
    message.extend(head(ENCRYPTED, content)?);
    let start = message.len();
    message.extend(PREFIX);
    message.extend(head_of_compressed);
    message.extend(compressed);
    encrypt(&mut message[start..]);
    Ok(message)
}

/// The head of a packet.
fn head(tag: u8, length: usize) -> io::Result<[u8; 6]> {
    let length = u32::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let [a, b, c, d] = length.to_be_bytes();
    Ok([tag, 0xFF, a, b, c, d])
}

/// OpenPGP's variant of cipher feedback, in place: after the prefix it starts again with the last block of the ciphertext.
fn encrypt(bytes: &mut [u8]) {
    let key = Sha256::digest(PASSPHRASE);
    let key: [u8; BLOCK] = key.first_chunk().copied().unwrap_or_default();
    let cipher = Aes128::new(&Array::from(key));
    let (prefix, content) = bytes.split_at_mut(PREFIX.len());
    let mut register = [0; BLOCK];
    for piece in prefix.chunks_mut(BLOCK) {
        feed(&cipher, &mut register, piece);
    }
    register.copy_from_slice(&prefix[PREFIX.len() - BLOCK..]);
    for piece in content.chunks_mut(BLOCK) {
        feed(&cipher, &mut register, piece);
    }
}

/// Encrypts at most a block. The register becomes the ciphertext.
fn feed(cipher: &Aes128, register: &mut [u8; BLOCK], piece: &mut [u8]) {
    let mut pad = Array::from(*register);
    cipher.encrypt_block(&mut pad);
    for (at, byte) in piece.iter_mut().enumerate() {
        *byte ^= pad[at];
        register[at] = *byte;
    }
}
