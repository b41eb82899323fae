//! Documents by the rules of their own formats, next to what the formats' programs read.

use std::process::Command;

use ixmcp::model::Extracted;
use serde_json::json;

use crate::documents::{archive, in_folder, read, reasons, text_of};
use crate::support::harness::Repo;

fn whole(name: &str, bytes: &[u8]) -> Extracted {
    read(name, bytes, &in_folder(4000, 0)).unwrap()
}

/// Level and title of each heading.
fn headings(extracted: &Extracted) -> Vec<String> {
    let depth = |of: usize| std::iter::successors(Some(of), |of| extracted.symbols[*of].parent).count();
    (0..extracted.symbols.len()).map(|at| format!("{} {}", depth(at), extracted.symbols[at].name)).collect()
}

/// A Word document with these styles and paragraphs.
fn docx(styles: &str, body: &str) -> Vec<u8> {
    let styles = format!("<w:styles>{styles}</w:styles>");
    let body = format!("<w:document><w:body>{body}</w:body></w:document>");
    archive(&[("word/document.xml", body.as_bytes()), ("word/styles.xml", styles.as_bytes())])
}

/// Pandoc 3.9 reads the first three as headings of level 2, and the outline levels are ECMA-376's (part 1, 17.3.1.20).
#[test]
fn a_style_based_on_that_of_a_heading_makes_headings() {
    let style = |id: &str, name: &str, more: &str| {
        format!("<w:style w:styleId=\"{id}\"><w:name w:val=\"{name}\"/>{more}</w:style>")
    };
    let based = |on: &str| format!("<w:basedOn w:val=\"{on}\"/>");
    let styles = [
        style("Kop2", "heading 2", "<w:pPr><w:outlineLvl w:val=\"1\"/></w:pPr>"),
        style("Chapter", "Chapter", &based("Kop2")),
        style("Own", "Own", &based("Chapter")),
        style("Quiet", "Quiet", &(based("Own") + "<w:pPr><w:outlineLvl w:val=\"9\"/></w:pPr>")),
        style("Loop", "Loop", &based("Pool")),
        style("Pool", "Pool", &based("Loop")),
    ];
    let paragraph = |style: &str, more: &str, text: &str| {
        format!("<w:p><w:pPr><w:pStyle w:val=\"{style}\"/>{more}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
    };
    let body = [
        paragraph("Kop2", "", "One"),
        paragraph("Chapter", "", "Two"),
        paragraph("Own", "", "Three"),
        paragraph("Quiet", "", "no heading"),
        paragraph("Loop", "", "none either"),
        paragraph("Own", "<w:outlineLvl w:val=\"9\"/>", "nor this"),
        paragraph("Body", "<w:outlineLvl w:val=\"0\"/>", "Four"),
        paragraph("Body", "<w:pPrChange><w:pPr><w:pStyle w:val=\"Kop2\"/></w:pPr></w:pPrChange>", "nor one that was"),
    ];
    let extracted = whole("x.docx", &docx(&styles.concat(), &body.concat()));
    assert_eq!(headings(&extracted), ["1 One", "1 Two", "1 Three", "1 Four"]);
    // The first three are of one level: none is in another.
    assert!(text_of(&extracted).contains("no heading\n\nnone either\n\nnor this"), "{}", text_of(&extracted));
}

#[test]
fn hyphens_pictures_and_large_letters_of_word_are_of_their_words() {
    let body = "<w:p><w:r><w:t>form X</w:t><w:noBreakHyphen/><w:t>42</w:t></w:r></w:p>\
        <w:p><w:pPr><w:framePr w:dropCap=\"drop\"/></w:pPr><w:r><w:t>D</w:t></w:r></w:p><w:p><w:r><w:t>rop cap</w:t></w:r></w:p>\
        <w:p><w:r><w:t>a</w:t><w:drawing><wp:docPr id=\"1\" descr=\"blue hive\"/></w:drawing><w:t>b</w:t></w:r></w:p>";
    assert_eq!(text_of(&whole("x.docx", &docx("", body))), "form X-42\n\nDrop cap\n\na blue hive b\n");
}

/// An OpenDocument text with this content and these other parts.
fn odt(automatic_styles: &str, text: &str, others: &[(&str, &str)]) -> Vec<u8> {
    let content = format!(
        "<office:document-content><office:automatic-styles>{automatic_styles}</office:automatic-styles>\
         <office:body><office:text>{text}</office:text></office:body></office:document-content>"
    );
    let others = others.iter().map(|(name, part)| (*name, part.as_bytes()));
    archive(&std::iter::once(("content.xml", content.as_bytes())).chain(others).collect::<Vec<_>>())
}

/// A book with one chapter.
fn epub(chapter: &str) -> Vec<u8> {
    let package = "<package><manifest><item id=\"c\" href=\"c.xhtml\" media-type=\"application/xhtml+xml\"/></manifest>\
        <spine><itemref idref=\"c\"/></spine></package>";
    archive(&[
        ("META-INF/container.xml", b"<container><rootfile full-path=\"p.opf\"/></container>"),
        ("p.opf", package.as_bytes()),
        ("c.xhtml", chapter.as_bytes()),
    ])
}

/// MathML and OMML as pandoc 3.9 writes them for `\sum_{i=1}^n i`, `\sin^2 rate \cdot x_1`, … and the same in the linear format of
/// Unicode Technical Note 28 (version 3.2). The words are those of `pandoc -t plain`.
#[test]
fn a_formula_has_the_same_text_in_every_format() {
    for (mathml, omml, expected) in [
        (
            "<mrow><msup><mi>x</mi><mn>2</mn></msup><mo>+</mo><mfrac><mi mathvariant=\"normal\">alpha</mi><mrow><mi>b</mi><mo>+</mo>\
             <mn>1</mn></mrow></mfrac></mrow>",
            "<m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup><m:r><m:rPr><m:sty m:val=\"p\"/>\
             </m:rPr><m:t>+</m:t></m:r><m:f><m:fPr><m:type m:val=\"bar\"/></m:fPr><m:num><m:r><m:t>al</m:t></m:r><m:r><m:t>pha</m:t></m:r>\
             </m:num><m:den><m:r><m:t>b+1</m:t></m:r></m:den></m:f>",
            "x^2+alpha/(b+1)",
        ),
        (
            "<mrow>\n<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>\n<mi>i</mi></mrow>",
            "<m:nary><m:naryPr><m:chr m:val=\"∑\"/><m:limLoc m:val=\"undOvr\"/><m:supHide m:val=\"off\"/></m:naryPr><m:sub><m:r><m:t>i=1</m:t>\
             </m:r></m:sub><m:sup><m:r><m:t>n</m:t></m:r></m:sup><m:e><m:r><m:t>i</m:t></m:r></m:e></m:nary>",
            "∑_(i=1)^n i",
        ),
        (
            "<mrow><msubsup><mo>∫</mo><mn>0</mn><mn>1</mn></msubsup><mi>f</mi></mrow>",
            "<m:nary><m:naryPr><m:ctrlPr><w:rPr><w:i/></w:rPr></m:ctrlPr></m:naryPr><m:sub><m:r><m:t>0</m:t></m:r></m:sub><m:sup><m:r>\
             <m:t>1</m:t></m:r></m:sup><m:e><m:r><m:t>f</m:t></m:r></m:e></m:nary>",
            "∫_0^1 f",
        ),
        (
            "<mrow><mo>[</mo><mfrac linethickness=\"0\"><mi>n</mi><mi>k</mi></mfrac><mo>]</mo></mrow>",
            "<m:d><m:dPr><m:begChr m:val=\"[\"/><m:endChr m:val=\"]\"/></m:dPr><m:e><m:f><m:fPr><m:type m:val=\"noBar\"/></m:fPr><m:num><m:r>\
             <m:t>n</m:t></m:r></m:num><m:den><m:r><m:t>k</m:t></m:r></m:den></m:f></m:e></m:d>",
            "[n¦k]",
        ),
        (
            "<mrow><mfenced><mi>a</mi><mi>b</mi></mfenced><mo>=</mo><msup><mfenced><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow></mfenced>\
             <mn>2</mn></msup></mrow>",
            "<m:d><m:dPr><m:sepChr m:val=\",\"/></m:dPr><m:e><m:r><m:t>a</m:t></m:r></m:e><m:e><m:r><m:t>b</m:t></m:r></m:e></m:d><m:r>\
             <m:t>=</m:t></m:r><m:sSup><m:e><m:d><m:e><m:r><m:t>a+b</m:t></m:r></m:e></m:d></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>",
            "(a,b)=(a+b)^2",
        ),
        (
            "<mrow><msqrt><mtext>width</mtext><mo>&lt;</mo><mi>h</mi></msqrt><mroot><mi>x</mi><mn>3</mn></mroot></mrow>",
            "<m:rad><m:radPr><m:degHide m:val=\"on\"/></m:radPr><m:deg/><m:e><m:r><m:rPr><m:nor/></m:rPr><m:t>width</m:t></m:r><m:r>\
             <m:t>&lt;h</m:t></m:r></m:e></m:rad><m:rad><m:deg><m:r><m:t>3</m:t></m:r></m:deg><m:e><m:r><m:t>x</m:t></m:r></m:e></m:rad>",
            "√(width<h)√(3&x)",
        ),
        (
            "<mrow><mi>sin</mi><mo>&#x2061;</mo><mi>rate</mi><mo>⋅</mo><msub><mi>x</mi><mn>1</mn></msub><mi>y</mi></mrow>",
            "<m:func><m:fName><m:r><m:t>sin</m:t></m:r></m:fName><m:e><m:r><m:t>rate</m:t></m:r></m:e></m:func><m:r><m:t>⋅</m:t></m:r>\
             <m:sSub><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sub><m:r><m:t>1</m:t></m:r></m:sub></m:sSub><m:r><m:t>y</m:t></m:r>",
            "sin rate⋅x_1 y",
        ),
        (
            "<mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr><mtr><mtd><mi>c</mi></mtd><mtd><mi>d</mi></mtd></mtr></mtable>",
            "<m:m><m:mPr><m:mcs><m:mc><m:mcPr><m:count m:val=\"2\"/></m:mcPr></m:mc></m:mcs></m:mPr><m:mr><m:e><m:r><m:t>a</m:t></m:r></m:e>\
             <m:e><m:r><m:t>b</m:t></m:r></m:e></m:mr><m:mr><m:e><m:r><m:t>c</m:t></m:r></m:e><m:e><m:r><m:t>d</m:t></m:r></m:e></m:mr></m:m>",
            "■(a&b@c&d)",
        ),
        (
            "<mrow><mover><mi>AB</mi><mo accent=\"true\">¯</mo></mover><mo>=</mo><munder><mrow><mi>x</mi><mo>+</mo><mi>y</mi></mrow>\
             <mo accent=\"true\">_</mo></munder><mo>=</mo><mover><mi>x</mi><mo accent=\"true\">‾</mo></mover></mrow>",
            "<m:bar><m:barPr><m:pos m:val=\"top\"/></m:barPr><m:e><m:r><m:t>AB</m:t></m:r></m:e></m:bar><m:r><m:t>=</m:t></m:r><m:bar><m:e>\
             <m:r><m:t>x+y</m:t></m:r></m:e></m:bar><m:r><m:t>=</m:t></m:r><m:acc><m:accPr><m:chr m:val=\"‾\"/></m:accPr><m:e><m:r><m:t>x</m:t>\
             </m:r></m:e></m:acc>",
            "¯AB=▁(x+y)=¯x",
        ),
        (
            "<munder><munder><mrow><mi>x</mi><mo>+</mo><mi>y</mi></mrow><mo accent=\"true\">⏟</mo></munder><mi>n</mi></munder>",
            "<m:limLow><m:e><m:groupChr><m:groupChrPr><m:chr m:val=\"⏟\"/><m:pos m:val=\"bot\"/></m:groupChrPr><m:e><m:r><m:t>x+y</m:t></m:r>\
             </m:e></m:groupChr></m:e><m:lim><m:r><m:t>n</m:t></m:r></m:lim></m:limLow>",
            "⏟(x+y)_n",
        ),
        (
            "<mmultiscripts><mi>C</mi> <mprescripts/> <mn>6</mn> <mn>14</mn></mmultiscripts>",
            "<m:sPre><m:sub><m:r><m:t>6</m:t></m:r></m:sub><m:sup><m:r><m:t>14</m:t></m:r></m:sup><m:e><m:r><m:t>C</m:t></m:r></m:e></m:sPre>",
            "_6^14 C",
        ),
        (
            "<mmultiscripts><mi>C</mi><mn>6</mn><none/><mprescripts/><none/><mn>14</mn></mmultiscripts>",
            "<m:sPre><m:sub/><m:sup><m:r><m:t>14</m:t></m:r></m:sup><m:e><m:sSub><m:e><m:r><m:t>C</m:t></m:r></m:e><m:sub><m:r><m:t>6</m:t></m:r>\
             </m:sub></m:sSub></m:e></m:sPre>",
            "^14 C_6",
        ),
    ] {
        let expected = format!("so {expected}, then\n");
        let body = format!("<w:p><w:r><w:t>so </w:t></w:r><m:oMath>{omml}</m:oMath><w:r><w:t>, then</w:t></w:r></w:p>");
        assert_eq!(text_of(&whole("x.docx", &docx("", &body))), expected);
        // An object with the formula, as LibreOffice has it: another notation of it is not shown.
        let math = format!(
            "<math xmlns=\"http://www.w3.org/1998/Math/MathML\"><semantics>{mathml}<annotation encoding=\"x\">x^2 \\frac</annotation>\
             </semantics></math>"
        );
        for (link, part) in [("./Formula-0", "Formula-0/content.xml"), ("Object 1/", "Object 1/content.xml")] {
            let text =
                format!("<text:p>so <draw:frame><draw:object xlink:href=\"{link}\"/></draw:frame>, then</text:p>");
            assert_eq!(text_of(&whole("x.odt", &odt("", &text, &[(part, &math)]))), expected);
        }
        let page = format!("<p>so {math}, then</p>");
        assert_eq!(text_of(&whole("x.html", page.as_bytes())), expected);
        let xhtml = format!("<html xmlns=\"http://www.w3.org/1999/xhtml\"><body>{page}</body></html>");
        assert_eq!(text_of(&whole("x.epub", &epub(&xhtml))), expected);
    }
}

/// Output of KaTeX 0.16, shortened. Pandoc 3.9 reads the formula once, too.
#[test]
fn a_formula_that_is_set_for_the_eye_again_is_read_once() {
    let page = "<p>so <span class=\"katex\"><span class=\"katex-mathml\"><math><semantics><msup><mi>x</mi><mn>2</mn></msup>\
        <annotation encoding=\"application/x-tex\">x^2</annotation></semantics></math></span><span class=\"katex-html\" aria-hidden=\"true\">\
        <span class=\"base\"><span>x</span><span>2</span></span></span></span>, then</p>";
    assert_eq!(text_of(&whole("x.html", page.as_bytes())), "so x^2, then\n");
}

/// HTML, 13.2.6.5: an element of a page ends a formula. ECMA-376 (part 1, 22.1.2.78): formulas on lines of their own.
#[test]
fn formulas_end_where_their_line_or_paragraph_does() {
    let page = "<p>a<math display=\"block\"><mi>x</mi></math>b <math><mi>y<p>c";
    assert_eq!(text_of(&whole("x.html", page.as_bytes())), "a\nx\nb y\n\nc\n");
    let formula = |text: &str| format!("<m:oMath><m:r><m:t>{text}</m:t></m:r></m:oMath>");
    let body = format!(
        "<w:p><m:oMathPara>{}{}</m:oMathPara></w:p><w:p><w:r><w:t>c</w:t></w:r></w:p>",
        formula("x=1"),
        formula("y=2")
    );
    assert_eq!(text_of(&whole("x.docx", &docx("", &body))), "x=1\ny=2\n\nc\n");
    let inner = "<mfrac>".repeat(100_000) + "<mi>deep</mi>";
    assert!(text_of(&whole("x.html", format!("<math>{inner}</math>").as_bytes())).contains("deep"));
    // An object that is not a formula has no text, and a formula that is not there is reported.
    let text = "<text:p>one<draw:frame><draw:object xlink:href=\"./Chart\"/></draw:frame></text:p>";
    let read = whole("x.odt", &odt("", text, &[("Chart/content.xml", "<office:document-content/>")]));
    assert_eq!((text_of(&read).as_str(), reasons(&read)), ("one\n", vec![]));
    let read = whole("x.odt", &odt("", text, &[("Chart/content.xml", "<a <b")]));
    assert_eq!(text_of(&read), "one\n");
    assert!(reasons(&read)[0].starts_with("Chart/content.xml was not read"), "{:?}", reasons(&read));
}

/// By `pandoc -t plain` 3.9, but for the numbers of headings' notes.
#[test]
fn notes_of_an_odt_are_at_its_end() {
    let note = |number: u8, text: &str| {
        format!(
            "<text:note><text:note-citation>{number}</text:note-citation><text:note-body>{text}</text:note-body></text:note>"
        )
    };
    let content = format!(
        "<office:document-content><office:body><office:text><text:h text:outline-level=\"1\">Les pays{}</text:h><text:p>Des pays{} voisins.\
         <draw:frame><draw:image/><svg:title>carte</svg:title><svg:desc>du monde</svg:desc></draw:frame>fin</text:p></office:text></office:body>\
         </office:document-content>",
        note(1, "<text:p>Une note.</text:p>"),
        note(2, "<text:p>La fin.</text:p><text:p>Et plus.</text:p>"),
    );
    let extracted = whole("x.odt", &archive(&[("content.xml", content.as_bytes())]));
    let expected = "Les pays\n\nDes pays[2] voisins. carte du monde fin\n\n1 Une note.\n\n2 La fin. Et plus.\n";
    assert_eq!(text_of(&extracted), expected);
    assert_eq!(headings(&extracted), ["1 Les pays"]);
}

/// Pandoc 3.9 reads paragraphs of these styles in a DOCX as the title and other metadata, and writes them with these styles.
#[test]
fn the_title_of_a_document_is_a_heading_and_what_is_below_it_is_text() {
    let style = |id: &str, name: &str, on: &str| {
        format!("<w:style w:styleId=\"{id}\"><w:name w:val=\"{name}\"/><w:basedOn w:val=\"{on}\"/></w:style>")
    };
    let styles = [
        style("Titel", "Title", "Normal"),
        style("Subtitle", "Subtitle", "Titel"),
        style("Author", "Author", "Subtitle"),
    ];
    let paragraph = |style: &str, text: &str| {
        format!("<w:p><w:pPr><w:pStyle w:val=\"{style}\"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
    };
    let body = [
        paragraph("Titel", "Bees"),
        paragraph("Subtitle", "A manual"),
        paragraph("Author", "Ann"),
        paragraph("Heading1", "Hives"),
    ];
    let text = "Bees\n\nA manual\n\nAnn\n\nHives\n";
    let read = whole("x.docx", &docx(&styles.concat(), &body.concat()));
    assert_eq!((text_of(&read).as_str(), headings(&read)), (text, vec!["1 Bees".to_owned(), "1 Hives".to_owned()]));
    let automatic = "<style:style style:name=\"P1\" style:parent-style-name=\"Title\"/>";
    for style in ["Title", "P1"] {
        let body = format!(
            "<text:p text:style-name=\"{style}\">Bees</text:p><text:p text:style-name=\"Subtitle\">A manual</text:p>\
             <text:p text:style-name=\"Author\">Ann</text:p><text:h text:outline-level=\"1\">Hives</text:h>"
        );
        let read = whole("x.odt", &odt(automatic, &body, &[]));
        assert_eq!((text_of(&read).as_str(), headings(&read)), (text, vec!["1 Bees".to_owned(), "1 Hives".to_owned()]));
    }
}

/// Pandoc 3.9 writes an implicit figure like this, and reads it as one caption. Word writes a box of text as a drawing and, for older
/// programs, as a picture.
#[test]
fn a_caption_is_read_once() {
    let picture = "<w:p><w:r><w:drawing><wp:inline><wp:docPr id=\"1\" title=\"T\" descr=\"Blue  hive\"/></wp:inline></w:drawing></w:r></w:p>";
    let paragraph = |text: &str| format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>");
    let inner = format!("<w:txbxContent>{}</w:txbxContent>", paragraph("Blue hive"));
    let boxed = format!(
        "<w:p><w:r><mc:AlternateContent><mc:Choice Requires=\"wps\"><w:drawing><wp:docPr id=\"2\" name=\"Text Box 2\"/>{inner}</w:drawing>\
         </mc:Choice><mc:Fallback><w:pict><v:textbox>{inner}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>"
    );
    for (body, expected) in [
        (picture.to_owned() + &paragraph("Blue hive") + &paragraph("after"), "Blue hive\n\nafter\n"),
        (picture.to_owned() + &paragraph("Blue hive"), "Blue hive\n"),
        (
            picture.to_owned() + &paragraph("Blue hive 2") + &paragraph("Blue hive"),
            "Blue hive\n\nBlue hive 2\n\nBlue hive\n",
        ),
        (boxed + &paragraph("after"), "Blue hive\n\nafter\n"),
    ] {
        assert_eq!(text_of(&whole("x.docx", &docx("", &body))), expected, "{body}");
    }
    for (page, expected) in [
        ("<figure><img alt=\"Blue hive\"/><figcaption>Blue <b>hive</b></figcaption></figure>", "Blue hive\n\nafter\n"),
        ("<p><img alt=\"Blue hive\"/></p><h2>Blue hive</h2>", "Blue hive\n\nBlue hive\n\nafter\n"),
        ("<p>a <img alt=\"Blue hive\"/> b</p><p>Blue hive</p>", "a Blue hive b\n\nBlue hive\n\nafter\n"),
    ] {
        let page = format!("{page}<p>after</p>");
        assert_eq!(text_of(&whole("x.html", page.as_bytes())), expected, "{page}");
    }
}

/// Pandoc 3.9 writes the caption of a table so, and reads it once. An empty one says nothing.
#[test]
fn the_caption_of_a_table_of_word_is_read_once() {
    let table = |caption: &str| {
        format!(
            "<w:tbl><w:tblPr><w:tblCaption w:val=\"{caption}\"/></w:tblPr><w:tr><w:tc><w:p><w:r><w:t>1</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
        )
    };
    let paragraph = "<w:p><w:r><w:t>Weights of hives</w:t></w:r></w:p>";
    for (caption, expected) in [
        ("Weights of  hives", "Weights of hives\n1\n"),
        ("of hives", "Weights of hives\nof hives\n1\n"),
        ("", "Weights of hives\n1\n"),
    ] {
        assert_eq!(text_of(&whole("x.docx", &docx("", &(paragraph.to_owned() + &table(caption))))), expected);
    }
}

/// Pandoc 3.9 shows these. HTML (15.3.1) hides a `datalist`, and browsers show each option on a line.
#[test]
fn options_and_text_for_browsers_without_scripts_are_read() {
    let page = "<p>Size:<select name=s><optgroup label=G><option>Small<option selected>Large</optgroup></select>each\
        <datalist><option value=no>no</datalist></p><noscript><p>Call us.</p></noscript><script>no</script>end";
    assert_eq!(text_of(&whole("x.html", page.as_bytes())), "Size:\n\nSmall\nLarge\n\neach\n\nCall us.\n\nend\n");
}

/// Pandoc 3.9 writes a cell with a line break so to both formats.
#[test]
fn a_row_is_one_line_also_where_a_cell_has_several() {
    let cell = |runs: &str| format!("<w:tc><w:p><w:r>{runs}</w:r></w:p></w:tc>");
    let row = cell("<w:t>line</w:t><w:br/><w:t>next</w:t>") + &cell("<w:t>y</w:t>");
    assert_eq!(text_of(&whole("x.docx", &docx("", &format!("<w:tbl><w:tr>{row}</w:tr></w:tbl>")))), "line next | y\n");
    let row = "<table:table-cell><text:p>line<text:line-break/>next</text:p></table:table-cell>\
        <table:table-cell><text:p>y</text:p></table:table-cell>";
    let table = format!("<table:table><table:table-row>{row}</table:table-row></table:table>");
    assert_eq!(text_of(&whole("x.odt", &odt("", &table, &[]))), "line next | y\n");
}

/// Tables as pandoc 3.9 writes them to each format, and covered cells as LibreOffice does (OpenDocument 1.3, part 3, 9.1.5). The columns are
/// those of `pandoc -t plain` 3.9 and, with rows that reach to the end of their group, HTML 4.9.11.
#[test]
fn a_value_of_a_table_is_in_its_column_also_behind_empty_cells() {
    // Each cell with how many columns and rows it has; `None` is covered by one above.
    type Cell<'a> = Option<(&'a str, usize, usize)>;
    let one = |text: &'static str| Some((text, 1, 1));
    let rows: &[&[Cell]] = &[
        &[one(""), one("Price"), one("Stock"), one("Shelf")],
        &[one(""), one("9"), one("1"), one("")],
        &[one("Nut"), one(""), one("4"), one("A")],
        &[one(""), one(""), one("\u{200b}"), one("\u{a0}")],
        &[Some(("Bolt", 1, 3)), Some(("wide", 2, 1)), one("B")],
        &[None, one(""), Some(("tall", 1, 2)), one("C")],
        &[None, one("5"), None, one("D")],
        &[one("end"), one(""), one(""), one("E")],
    ];
    let expected =
        "| Price | Stock | Shelf\n| 9 | 1\nNut | | 4 | A\nBolt | wide | | B\n| | tall | C\n| 5 | | D\nend | | | E\n";
    let each = |row: &dyn Fn(String) -> String, cell: &dyn Fn(&Cell) -> String| {
        rows.iter().map(|cells| row(cells.iter().map(cell).collect())).collect::<String>()
    };
    let word = each(&|row| format!("<w:tr>{row}</w:tr>"), &|cell| {
        let (text, columns, rows) = cell.unwrap_or(("", 1, 1));
        let merge = match cell {
            None => "<w:vMerge/>",
            _ if rows > 1 => "<w:vMerge w:val=\"restart\"/>",
            _ => "",
        };
        let before = "<w:tcPrChange><w:tcPr><w:gridSpan w:val=\"3\"/></w:tcPr></w:tcPrChange>";
        format!(
            "<w:tc><w:tcPr><w:gridSpan w:val=\"{columns}\"/>{merge}{before}</w:tcPr><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>"
        )
    });
    assert_eq!(text_of(&whole("x.docx", &docx("", &format!("<w:tbl>{word}</w:tbl>")))), expected);
    for covered in ["", "<table:covered-table-cell/>"] {
        let table = each(&|row| format!("<table:table-row>{row}</table:table-row>"), &|cell| match cell {
            None => covered.to_owned(),
            Some((text, columns, rows)) => format!(
                "<table:table-cell table:number-columns-spanned=\"{columns}\" table:number-rows-spanned=\"{rows}\"><text:p>{text}</text:p>\
                 </table:table-cell>{}",
                covered.repeat(columns - 1)
            ),
        });
        assert_eq!(text_of(&whole("x.odt", &odt("", &format!("<table:table>{table}</table:table>"), &[]))), expected);
    }
    let page = each(&|row| format!("<tr>{row}</tr>"), &|cell| {
        cell.map_or_else(String::new, |(text, columns, rows)| {
            format!("<td colspan={columns} rowspan=\"{rows}\">{text}</td>")
        })
    });
    assert_eq!(text_of(&whole("x.html", format!("<table>{page}</table>").as_bytes())), expected);

    for (page, expected) in [
        ("<tbody><tr><td rowspan=0>a<td>b<tr><td>c</tbody><tbody><tr><td>d<td>e</tbody>", "a | b\n| c\nd | e\n"),
        // Parts of a page that only places them.
        ("<tr><td><td><table><tr><td>&nbsp;<td>in</table><td>out<tr><td>a<td><td>b", "| in\n\nout\na | | b\n"),
        ("<tr><td><td><p>one</p><td><p>two</p><tr><td><td><img alt=' '><td>", "one\n\ntwo\n"),
    ] {
        assert_eq!(text_of(&whole("x.html", format!("<table>{page}</table>").as_bytes())), expected, "{page}");
    }
    let layout = b"<table role=presentation><tr><td><td>a<td><td>b<tr><td><td></table>";
    assert_eq!(text_of(&whole("x.html", layout)), "a | b\n");
    let before =
        "<w:tr><w:trPr><w:gridBefore w:val=\"2\"/></w:trPr><w:tc><w:p><w:r><w:t>late</w:t></w:r></w:p></w:tc></w:tr>";
    assert_eq!(text_of(&whole("x.docx", &docx("", &format!("<w:tbl>{before}</w:tbl>")))), "| | late\n");
}

/// Pandoc 3.9 writes notes so to EPUB 2 and EPUB 3, calibre to EPUB 2, and Sphinx a heading. DPUB-ARIA 1.1 has the role `doc-backlink`.
#[test]
fn links_between_a_note_and_its_text_are_not_parts_of_words() {
    for (page, expected) in [
        ("<p>dance<a href=\"#foot1\">1</a> at night</p>", "dance 1 at night\n"),
        ("<p>dance<a href=\"#fn1\" class=\"footnote-ref\" id=\"fnref1\"><sup>1</sup></a>at</p>", "dance 1 at\n"),
        ("<h1>Bees<a href=\"#fn1\"><sup>1</sup></a></h1><p>x</p>", "Bees\n\nx\n"),
        ("<h1>Chapter <a href=\"#toc\">1</a></h1><p>x</p>", "Chapter 1\n\nx\n"),
        ("<h1>Bees<a class=\"headerlink\" href=\"#bees\">¶</a></h1><p>x</p>", "Bees\n\nx\n"),
        (
            "<p id=\"fn1\">A note.<a href=\"#fnref1\" class=\"footnote-back\" role=\"doc-backlink\">↩\u{fe0e}</a></p>",
            "A note.\n",
        ),
        ("<p id=\"fn1\">A note. <a href=\"c.xhtml#fnref1\">↩</a></p>", "A note.\n"),
        (
            "<p id=\"fn1\"><a href=\"#fnref1\" role=\"doc-backlink\">1.</a> A note <a role=\"doc-backlink\" href=\"#r\">^</a></p>",
            "1. A note\n",
        ),
        (
            "<p>operators <a href=\"#plus\">+</a> H<sub>2</sub>O <a href=\"https://x.org\">↩</a></p>",
            "operators + H2O ↩\n",
        ),
    ] {
        assert_eq!(text_of(&whole("x.html", page.as_bytes())), expected, "{page}");
        let xhtml = format!("<html xmlns=\"http://www.w3.org/1999/xhtml\"><body>{page}</body></html>");
        assert_eq!(text_of(&whole("x.epub", &epub(&xhtml))), expected, "{page}");
    }
}

/// HTML, 15.3 (blocks, tables) and 15.5.4 (a button is an inline block), and `pandoc -t plain` 3.9.
#[test]
fn words_of_elements_between_which_browsers_leave_space_are_separate() {
    for (page, expected) in [
        ("<button>OK</button><button>Cancel</button>", "OK Cancel\n"),
        ("<hgroup>one</hgroup><menu>two</menu><dir>three</dir>four", "one\n\ntwo\n\nthree\n\nfour\n"),
        ("<table><caption>Weights</caption><tr><td>a<br>b<td>c<tr><td>d</table>", "Weights\n\na\nb | c\nd\n"),
        ("<table><tr><td>a<td>b<table><tr><td>in<td>ner</table>c<tr><td>d</table>", "a | b\n\nin | ner\n\nc\nd\n"),
        ("<p>super<wbr>cali so&shy;ft zero&#x200b;width</p>", "supercali soft zerowidth\n"),
    ] {
        assert_eq!(text_of(&whole("x.html", page.as_bytes())), expected, "{page}");
    }
}

/// Unicode 16, 23.2: a soft hyphen and a zero-width space only say where a line may be broken.
#[test]
fn a_word_with_soft_hyphens_is_found_by_its_plain_spelling_in_every_format() {
    let text = "the beekee\u{ad}per's honey\u{200b}comb";
    let repo = Repo::new("");
    for name in ["x.md", "x.rst", "x.txt", "x.csv"] {
        repo.write(name, text);
    }
    repo.write("x.docx", docx("", &format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>")));
    repo.write("x.odt", odt("", &format!("<text:p>{text}</text:p>"), &[]));
    repo.write(
        "x.epub",
        epub(&format!("<html xmlns=\"http://www.w3.org/1999/xhtml\"><body><p>{text}</p></body></html>")),
    );
    repo.ok(&["sync"]);
    for word in ["beekeeper", "honeycomb"] {
        let hits = repo.call("query", &json!({ "text": word, "limit": 20 }));
        let mut paths: Vec<&str> =
            hits["results"].as_array().unwrap().iter().map(|hit| hit["file_path"].as_str().unwrap()).collect();
        paths.sort_unstable();
        assert_eq!(paths, ["x.csv", "x.docx", "x.epub", "x.md", "x.odt", "x.rst", "x.txt"], "{word}");
    }
}

/// Pandoc 3.9 writes code so to a DOCX, and reads it from there; LibreOffice and pandoc have a paragraph for each line in an ODT.
#[test]
fn code_in_a_document_keeps_its_lines_and_indentation() {
    let text = "before\n\ndef weigh(hive):\n    if hive:\n\treturn 1\n\nreturn  2\n\nafter\n";
    let run = |text: &str| format!("<w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r>");
    let paragraph = |style: &str, runs: &str| format!("<w:p><w:pPr><w:pStyle w:val=\"{style}\"/></w:pPr>{runs}</w:p>");
    let (tab, line) = ("<w:r><w:tab/></w:r>", "<w:r><w:br/></w:r>");
    let lines = [
        run("def") + &run(" weigh(hive):"),
        run("    ") + &run("if") + &run(" hive:"),
        tab.to_owned() + &run("return 1"),
        String::new(),
        run("return  2"),
    ];
    let styles = "<w:style w:styleId=\"Kode\"><w:name w:val=\"Source Code\"/></w:style>\
        <w:style w:styleId=\"Own\"><w:basedOn w:val=\"Kode\"/></w:style>";
    let around = |code: &str| paragraph("Body", &run("before")) + code + &paragraph("Body", &run("after"));
    for style in ["SourceCode", "Kode", "Own", "HTMLPreformatted"] {
        let in_one = paragraph(style, &lines.join(line));
        let in_many: String = lines.iter().map(|line| paragraph(style, line)).collect();
        for code in [in_one, in_many] {
            assert_eq!(text_of(&whole("x.docx", &docx(styles, &around(&code)))), text, "{style}");
        }
    }
    let styles = "<style:style style:name=\"P1\" style:parent-style-name=\"Listing\"/>";
    let named = "<office:styles><style:style style:name=\"Listing\" style:parent-style-name=\"Preformatted_20_Text\"/></office:styles>";
    let lines = [
        "<text:span>def</text:span> weigh(hive):",
        "<text:s text:c=\"4\"/>if <text:span>hive:</text:span>",
        "<text:tab/>return\n1",
        "",
        "return <text:s/>2",
    ];
    for style in ["Preformatted_20_Text", "Listing", "P1"] {
        let paragraph = |text: &str| format!("<text:p text:style-name=\"{style}\">{text}</text:p>\n");
        let in_one = paragraph(&lines.join("<text:line-break/>"));
        let in_many: String = lines.iter().map(|line| paragraph(line)).collect();
        for code in [in_one, in_many] {
            let body = format!("<text:p>before</text:p>{code}<text:p>after</text:p>");
            assert_eq!(text_of(&whole("x.odt", &odt(styles, &body, &[("styles.xml", named)]))), text, "{style}");
        }
    }
}

/// Their words are those of `pandoc --track-changes=all` 3.9, which has the authors, too. OpenDocument 1.3 (part 3, 14.1) has comments as
/// `office:annotation`.
#[test]
fn comments_are_at_the_end_of_a_document() {
    let body = "<w:p><w:commentRangeStart w:id=\"0\"/><w:r><w:t>The queen</w:t></w:r><w:commentRangeEnd w:id=\"0\"/>\
        <w:r><w:commentReference w:id=\"0\"/></w:r><w:r><w:t> is gone.</w:t></w:r></w:p>";
    let comments = "<w:comments><w:comment w:id=\"0\" w:author=\"Ann\" w:initials=\"A\"><w:p><w:r><w:annotationRef/></w:r><w:r>\
        <w:t>Since Monday?</w:t></w:r></w:p></w:comment></w:comments>";
    let relations = "<Relationships><Relationship Type=\"http://x/relationships/comments\" Target=\"remarks.xml\"/></Relationships>";
    let body = format!("<w:document><w:body>{body}</w:body></w:document>");
    let expected = "The queen is gone.\n\nSince Monday?\n";
    for (part, relations) in [("word/comments.xml", "<Relationships/>"), ("word/remarks.xml", relations)] {
        let file = archive(&[
            ("word/document.xml", body.as_bytes()),
            ("word/_rels/document.xml.rels", relations.as_bytes()),
            (part, comments.as_bytes()),
        ]);
        assert_eq!(text_of(&whole("x.docx", &file)), expected);
    }
    let text = "<text:p>The <office:annotation office:name=\"1\"><dc:creator>Ann</dc:creator><dc:date>2026-01-01T10:00:00</dc:date>\
        <meta:creator-initials>A</meta:creator-initials><text:p>Since Monday?</text:p></office:annotation>queen\
        <office:annotation-end office:name=\"1\"/> is gone<text:date>.</text:date></text:p>";
    assert_eq!(text_of(&whole("x.odt", &odt("", text, &[]))), expected);
}

/// XML 1.0, 3.1: `<title/>` is an element without content; XHTML 1.0, A.2: its entities. A page that is not XML is HTML.
#[test]
fn pages_of_xml_are_read_as_xml() {
    let page = |head: &str, body: &str| {
        format!(
            "<?xml version=\"1.0\"?><html xmlns=\"http://www.w3.org/1999/xhtml\"><head>{head}</head><body>{body}</body></html>"
        )
    };
    for (head, body, expected) in [
        ("<title/>", "<h1>Bees</h1><p>dance</p>", "Bees\n\ndance\n"),
        ("<script src=\"a.js\"/><style/>", "<p>They &lt;dance&gt;</p>", "They <dance>\n"),
        ("", "<p>one<script/> two</p><textarea/><p>three</p>", "one two\n\nthree\n"),
        ("", "<h:p xmlns:h=\"http://www.w3.org/1999/xhtml\">one</h:p><h:p>two</h:p>", "one\n\ntwo\n"),
        ("", "<p>&eacute;t&#233; &amp;&nbsp;<![CDATA[a < b]]></p>", "été & a < b\n"),
        (
            "",
            "<p>dance<a epub:type=\"noteref\" href=\"#n\">1</a> at night<sup><a href=\"#m\">2</a></sup>.</p>",
            "dance 1 at night 2.\n",
        ),
        ("", "<h1>Bees<a role=\"doc-noteref\" href=\"#n\">1</a></h1><p>x</p>", "Bees\n\nx\n"),
        ("", "<p>a<img alt=\"blue hive\" src=\"x\"/>b</p>", "a blue hive b\n"),
        // Not well-formed.
        ("", "<p>one<br>two<p>three", "one\ntwo\n\nthree\n"),
    ] {
        let page = page(head, body);
        assert_eq!(text_of(&whole("x.epub", &epub(&page))), expected, "{page}");
        assert_eq!(text_of(&whole("x.xhtml", page.as_bytes())), expected, "{page}");
    }
}

/// RFC 2046, 5.1.4: alternatives are in order of their richness.
#[test]
fn of_alternatives_in_a_mail_the_one_that_says_most_is_shown() {
    let mail = |parts: &[(&str, &str)]| {
        let part = |(kind, text): &(&str, &str)| format!("--b\r\nContent-Type: {kind}\r\n\r\n{text}\r\n");
        let parts: String = parts.iter().map(part).collect();
        let mail = format!("Subject: s\r\nContent-Type: multipart/alternative; boundary=b\r\n\r\n{parts}--b--\r\n");
        text_of(&whole("x.eml", mail.as_bytes()))
    };
    let page = "<p>The queen is <b>gone</b>.</p>";
    let related =
        format!("--c\r\nContent-Type: text/html\r\n\r\n{page}\r\n--c\r\nContent-Type: image/png\r\n\r\nx\r\n--c--");
    for (parts, expected) in [
        (&[("text/plain", " \r\n"), ("text/html", page)][..], "The queen is gone."),
        (&[("text/plain", ""), ("multipart/related; boundary=c", &related)], "The queen is gone."),
        (&[("text/plain", "See the other."), ("text/html", page)], "The queen is gone."),
        (&[("text/plain", "The queen is gone."), ("text/html", "<p> <img src=x></p>")], "The queen is gone."),
        (&[("text/plain", "The queen\r\n  is gone."), ("text/html", page)], "The queen\n  is gone."),
        (&[("text/html", page), ("text/plain", "")], "The queen is gone."),
    ] {
        assert_eq!(mail(parts), format!("s\n\n{expected}\n"), "{parts:?}");
    }
}

fn notebook(cells: &serde_json::Value) -> String {
    json!({ "nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells }).to_string()
}

/// nbformat 5.11 (`nbformat.v4`): outputs of the type `error`; Python's `json` writes and reads `NaN`.
#[test]
fn outputs_of_a_notebook_are_read_without_their_colours() {
    let cells = json!([{
        "cell_type": "code", "source": "run()", "metadata": {},
        "outputs": [
            { "output_type": "stream", "name": "stdout", "text": ["\u{1b}[32mpassed\u{1b}[0m in 3s\n", "\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{1b}\\\n"] },
            { "output_type": "error", "ename": "ValueError", "evalue": "no hive",
              "traceback": ["\u{1b}[0;31mTraceback\u{1b}[0m (most recent call last)", "line 3", "\u{1b}[31mValueError\u{1b}[0m: no hive"] },
            { "output_type": "error", "ename": "KeyError", "evalue": "'queen'", "traceback": [] }
        ]
    }]);
    let plain = notebook(&cells);
    let expected = "run()\n\npassed in 3s\nlink\n\nTraceback (most recent call last)\nline 3\nValueError: no hive\n\nKeyError: 'queen'\n";
    let of_python = plain.replace("\"metadata\":{}", "\"metadata\":{\"a\":NaN,\"b\":-Infinity,\"c\":\"NaN \\ud83d\"}");
    assert_ne!(plain, of_python);
    for text in [plain, of_python] {
        assert_eq!(text_of(&whole("x.ipynb", text.as_bytes())), expected, "{text}");
    }
}

/// CommonMark 0.31.2: setext headings (4.3), fences of tildes (4.5), closing sequences (4.2).
#[test]
fn markdown_in_a_notebook_is_the_markdown_of_files() {
    let text = "Setext\n======\n\n~~~\n# no heading\n~~~\n\n## Closed ##\n\n    # code\n\n- # in a list\n\nTwo\nlines\n---\n\ntext";
    let cells = json!([{ "cell_type": "markdown", "metadata": {}, "source": text }]);
    let extracted = whole("x.ipynb", notebook(&cells).as_bytes());
    assert_eq!(headings(&extracted), ["1 Setext", "2 Closed", "1 in a list", "2 Two lines"]);
    let shown = text_of(&extracted);
    assert!(shown.contains("~~~\n# no heading\n~~~") && shown.contains("# code"), "{shown}");
    let repo = Repo::new("");
    repo.write("x.md", text);
    repo.ok(&["sync"]);
    let query = "SELECT name FROM symbols WHERE kind = 'heading' ORDER BY line";
    assert_eq!(
        repo.ok(&["sql", query]).lines().skip(1).collect::<Vec<_>>(),
        ["Setext", "Closed", "in a list", "Two lines"]
    );
}

/// Sections of docutils 0.23, each with its depth; also by docutils itself, if it is here.
#[test]
fn titles_of_restructuredtext_are_those_of_docutils() {
    let text = TITLES;
    let expected = [
        "1 UI",
        "1 Too short title here",
        "2 A",
        "1 Straight after a target",
        "2 1. Numbered title",
        "3 Over",
        "3 Up",
        "4 Right after a definition",
        "1 日本語",
        "1 Emphasis and code",
        "2 --option",
        "1 Last one",
        r"1 Function foo_bar and a\b",
        "1 The Product in pic |unknown|",
        "1 A link and python, Python or foo_ a_b",
        "1 Escaped *stars* and reStructuredText",
        r#"1 2*3 and x*y* * (*) "*" title ref"#,
        "1 Target and --option: interp",
        "1 Unclosed *emphasis and ``code",
        "1 Bold!  —dash— «q»",
        "1 __init__.py and _private, a``b``",
        "1 **not** in `b`",
    ];
    assert_eq!(headings(&whole("x.rst", text.as_bytes())), expected);
    let script = "
import sys, docutils.core, docutils.nodes
settings = {'report_level': 5, 'halt_level': 6, 'doctitle_xform': False}
for section in docutils.core.publish_doctree(sys.argv[1], settings_overrides=settings).findall(docutils.nodes.section):
    depth, above = 1, section.parent
    while above is not None:
        depth, above = depth + isinstance(above, docutils.nodes.section), above.parent
    print(depth, section[0].astext())
";
    let answer = Command::new("python3").args(["-c", script, text]).output();
    match answer {
        Ok(answer) if answer.status.success() => {
            let titles = String::from_utf8(answer.stdout).unwrap();
            assert_eq!(titles.lines().collect::<Vec<_>>(), expected);
        }
        _ => println!("docutils is not here"),
    }
}

const TITLES: &str = r#"UI
==

Too short title here
====

Not a title here
==

A
-

A paragraph of
two lines
=========

.. _label:
Straight after a target
=======================

- item
======

1. Numbered title
-----------------

#. item

   Indented
   ========

====
Over
====

==
Up
==

 term
=====

term
   definition
Right after a definition
~~~~~~~~~~~~~~~~~~~~~~~~

Code::

   Literal
   =======

Quoted::

> Quoted title
> ============

日本
==

日本語
======

:field: value
-------------

=====  =====
Name   Size
=====  =====
a      1
=====  =====

*Emphasis* and ``code``
=======================

-------------
 Centred one
-------------

Two levels further down
~~~~~~~~~~~~~~~~~~~~~~~

``--option``
------------

.. note::
   Inside
   ------

Last one
========

.. _python: https://python.org
.. |prod| replace:: The *Product*
.. |pic| image:: x.png

Function :code:`foo_bar` and ``a\b``
====================================

|prod| in |pic| |unknown|
=========================

`A link <https://x.org>`_ and `python`_, Python_ or foo_ a_b
============================================================

Escaped \*stars\* and re\ ``Structured``\ Text
==============================================

2*3 and x*y* ``*`` (*) "*" `title ref`
======================================

_`Target` and ``--option``: `interp`:title:
===========================================

Unclosed *emphasis and ``code
=============================

:strong:`Bold`!  —*dash*— «``q``»
=================================

__init__.py and _private, a``b``
================================

`**not** in` **`b`**
====================
"#;

/// Sphinx 8.1 shows these roles so. The names of headings have no numbers of notes, as in other formats.
#[test]
fn titles_of_restructuredtext_have_the_text_of_links_and_roles_of_sphinx() {
    for (title, expected) in [
        (":func:`~hive.weigh` of :py:class:`Hive`", "weigh of Hive"),
        (":ref:`All hives <hives>`, :doc:`/hives`", "All hives, /hives"),
        (":class:`!Hive` [1]_ of [Knuth]_ [#]_", "Hive of Knuth"),
    ] {
        let text = format!("{title}\n{}\n", "=".repeat(60));
        assert_eq!(headings(&whole("x.rst", text.as_bytes())), [format!("1 {expected}")]);
    }
    let long = format!("{}\n====\n", "*a ".repeat(300_000));
    // A reader whose time grows with the square of the length would not return.
    whole("x.rst", long.as_bytes());
}

/// A chunk that begins within a table is under the names of its columns, as one of a CSV is.
#[test]
fn each_piece_of_a_table_is_under_the_names_of_its_columns() {
    let numbers = || 0..40;
    let rows = |row: &dyn Fn(i32) -> String| numbers().map(row).collect::<String>();
    let markdown =
        format!("# Hives\n\n| hive | weight |\n|---|---:|\n{}\nafter\n", rows(&|n| format!("| row {n} | {n} |\n")));
    let cells = |kind: &str, a: &str, b: &str| format!("<tr><{kind}>{a}</{kind}><{kind}>{b}</{kind}></tr>");
    let html = format!(
        "<h1>Hives</h1><table>{}{}</table><p>after</p>",
        cells("th", "hive", "weight"),
        rows(&|n| cells("td", &format!("row {n}"), &n.to_string()))
    );
    // With an empty corner, as the rows below have them.
    let corner = rows(&|n| format!("<tr><td>row {n}<td>{n}<td>1"));
    let corner = format!("<table><tr><th><th>weight<th>age{corner}</table>");
    let extracted = read("x.html", corner.as_bytes(), &in_folder(150, 0)).unwrap();
    assert_eq!(extracted.chunks.last().unwrap().headings, "| weight | age");
    let word = |a: &str, b: &str| {
        format!(
            "<w:tr><w:tc><w:p><w:r><w:t>{a}</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>{b}</w:t></w:r></w:p></w:tc></w:tr>"
        )
    };
    let docx = docx(
        "",
        &format!(
            "<w:p><w:pPr><w:pStyle w:val=\"Heading1\"/></w:pPr><w:r><w:t>Hives</w:t></w:r></w:p><w:tbl>{}{}</w:tbl><w:p><w:r><w:t>after</w:t></w:r></w:p>",
            word("hive", "weight"),
            rows(&|n| word(&format!("row {n}"), &n.to_string()))
        ),
    );
    let rst = format!(
        "Hives\n=====\n\n======  ======\nhive    weight\n======  ======\n{}======  ======\n\nafter\n",
        rows(&|n| format!("row {n:<4}{n}\n"))
    );
    let notebook = notebook(&json!([{ "cell_type": "markdown", "metadata": {}, "source": markdown }]));
    for (name, bytes) in [
        ("x.md", markdown.as_bytes()),
        ("x.html", html.as_bytes()),
        ("x.docx", &docx),
        ("x.rst", rst.as_bytes()),
        ("x.ipynb", notebook.as_bytes()),
    ] {
        let extracted = read(name, bytes, &in_folder(150, 0)).unwrap();
        let inside = extracted
            .chunks
            .iter()
            .filter(|chunk| chunk.text.trim_start().trim_start_matches("| ").starts_with("row "));
        let inside: Vec<&str> = inside.map(|chunk| chunk.headings.as_str()).collect();
        assert!(inside.len() > 2, "{name}");
        assert!(inside.iter().all(|headings| *headings == "hive | weight\nHives"), "{name}: {inside:?}");
        let outside =
            extracted.chunks.iter().filter(|chunk| chunk.text.contains("after") && !chunk.text.contains("row "));
        assert!(outside.clone().count() <= 1 && outside.clone().all(|chunk| chunk.headings == "Hives"), "{name}");
    }
}
