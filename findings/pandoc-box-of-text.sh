#!/usr/bin/env bash
# Pandoc's reader of Word documents loses the words of a paragraph in which a box of text is anchored.
#
# Guess: a box of text in a run is read where it is, or left out. The words of the paragraph around it are read in any case.
# What happens: if the box is written as Word does, in today's form and in one for older programs, the paragraph becomes the paragraphs
# of the box. The words before and behind it are gone, without a message, and so is a heading in which a box is anchored.
# Tool: pandoc 3.9 (pypandoc_binary 1.17 of PyPI); python-docx 1.2.0, which leaves boxes out.
# Seen on 2026-11-28:
#   pandoc: 'boxed'
#   python-docx: 'one two'
# In ixmcp: boxes come behind their paragraph (src/extract/documents/docx.rs). Words that pandoc lacks there are not too many
# (.ci/documents), and the test of boxes rests on ECMA-376.
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv venv &&
    venv/bin/pip install -q --disable-pip-version-check pypandoc_binary==1.17 python-docx==1.2.0 ||
    { echo 'the packages cannot be installed'; exit 2; }
cat >probe.py <<'PY'
import docx
import pypandoc
from docx.oxml import parse_xml

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
WP = 'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"'
A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
WPS = "http://schemas.microsoft.com/office/word/2010/wordprocessingShape"
MC = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
VML = 'xmlns:v="urn:schemas-microsoft-com:vml"'
OLDER = '<w:pict><v:shape><v:textbox><w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent></v:textbox></v:shape></w:pict>'
# As Word writes it: in today's form, and in one for older programs.
BOX = f"""<w:r {W} {WP} {A} {MC} {VML} xmlns:wps="{WPS}"><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:anchor><wp:docPr id="1" name="Box"/><a:graphic><a:graphicData uri="{WPS}">
<wps:wsp><wps:txbx><w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent></wps:txbx></wps:wsp>
</a:graphicData></a:graphic></wp:anchor></w:drawing></mc:Choice><mc:Fallback>{OLDER}</mc:Fallback></mc:AlternateContent></w:r>"""
document = docx.Document()
paragraph = document.add_paragraph("one ")
paragraph._p.append(parse_xml(BOX))
paragraph.add_run("two")
document.save("x.docx")
print(f"pandoc: {pypandoc.convert_file('x.docx', 'plain').strip()!r}")
print(f"python-docx: {docx.Document('x.docx').paragraphs[0].text!r}")
PY
venv/bin/python probe.py | tee seen
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'
