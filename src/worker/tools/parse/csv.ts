/** RFC 4180, and what spreadsheets make of it: any line end, quotes inside of quotes, a byte order mark. */
export function parseCsv(source: string, delimiter: string): string[][] {
  const text = source.startsWith('\ufeff') ? source.slice(1) : source
  const rows: string[][] = []
  let row: string[] = []
  let field = ''
  let isQuoted = false
  const endField = () => {
    row.push(field)
    field = ''
  }
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    if (isQuoted) {
      if (character !== '"') field += character
      else if (text.charAt(at + 1) === '"') field += text.charAt(++at)
      else isQuoted = false
    } else if (character === '"' && field === '') isQuoted = true
    else if (character === delimiter) endField()
    else if (character === '\n' || character === '\r') {
      if (character === '\r' && text.charAt(at + 1) === '\n') at++
      endField()
      rows.push(row)
      row = []
    } else field += character
  }
  if (field !== '' || row.length > 0) {
    endField()
    rows.push(row)
  }
  // An empty line is no row; a row of one empty field cannot be told from it.
  return rows.filter((fields) => fields.length > 1 || fields[0] !== '')
}

/** The first row names the columns; missing fields are empty. */
export function withHeader([header = [], ...rows]: readonly string[][]): Record<string, string>[] {
  return rows.map((row) => Object.fromEntries(header.map((name, column) => [name, row[column] ?? ''])))
}
