import type { Database } from './database.ts'
import { integer, text } from './row.ts'

const SELECT_TREES = 'SELECT tbl_name, type, rootpage FROM sqlite_schema WHERE rootpage > 0'

interface TableSize {
  name: string
  rows: number
  /** With its indexes. */
  bytes: number
}

export interface TableSizes {
  /** The largest first. */
  tables: TableSize[]
  /** Room inside the file that nothing uses; it is used again before the file grows. */
  freeBytes: number
}

interface TreeSize {
  pages: number
  rows: number
}

/**
 * How much of the file each table takes. The sql.js build has no `dbstat`, so the trees are walked here: page by page, without
 * reading a row. See https://sqlite.org/fileformat.html#b_tree_pages.
 */
export function measureTables(database: Database, file: Uint8Array): TableSizes {
  const pages = new PageReader(file)
  const sizes = new Map<string, TableSize>()
  for (const tree of database.all(SELECT_TREES)) {
    const name = text(tree, 'tbl_name')
    const { pages: count, rows } = pages.measureTree(integer(tree, 'rootpage'))
    const known = sizes.get(name) ?? { name, rows: 0, bytes: 0 }
    const isTable = text(tree, 'type') === 'table'
    sizes.set(name, { name, rows: isTable ? rows : known.rows, bytes: known.bytes + count * pages.pageBytes })
  }
  const tables = [...sizes.values()].sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1))
  return { tables, freeBytes: pages.freePages * pages.pageBytes }
}

const INTERIOR_INDEX = 2
const INTERIOR_TABLE = 5
const LEAF_TABLE = 13

class PageReader {
  readonly #view: DataView
  readonly pageBytes: number
  readonly freePages: number
  readonly #usable: number

  constructor(file: Uint8Array) {
    this.#view = new DataView(file.buffer, file.byteOffset, file.byteLength)
    const stored = this.#view.getUint16(16)
    this.pageBytes = stored === 1 ? 65_536 : stored
    this.freePages = this.#view.getUint32(36)
    this.#usable = this.pageBytes - this.#view.getUint8(20)
  }

  measureTree(root: number): TreeSize {
    const size = { pages: 0, rows: 0 }
    const left = [root]
    for (let page = left.pop(); page !== undefined; page = left.pop()) this.#measurePage(page, size, left)
    return size
  }

  #measurePage(page: number, size: TreeSize, left: number[]): void {
    const start = (page - 1) * this.pageBytes
    const header = page === 1 ? start + 100 : start
    const type = this.#view.getUint8(header)
    const cells = this.#view.getUint16(header + 3)
    const isInterior = type === INTERIOR_INDEX || type === INTERIOR_TABLE
    const pointers = header + (isInterior ? 12 : 8)
    size.pages += 1
    // Interior pages of tables hold keys only; those of indexes, and of tables without rowids, hold entries of their own.
    if (type !== INTERIOR_TABLE) size.rows += cells
    if (isInterior) left.push(this.#view.getUint32(header + 8))
    for (let cell = 0; cell < cells; cell++) {
      const at = start + this.#view.getUint16(pointers + cell * 2)
      if (isInterior) left.push(this.#view.getUint32(at))
      if (type !== INTERIOR_TABLE) size.pages += this.#overflowPages(at + (isInterior ? 4 : 0), type === LEAF_TABLE)
    }
  }

  /** Long entries go on in pages of their own; how many follows from the length. */
  #overflowPages(at: number, isTable: boolean): number {
    const usable = this.#usable
    const length = this.#varint(at)
    const most = isTable ? usable - 35 : Math.floor(((usable - 12) * 64) / 255) - 23
    if (length <= most) return 0
    const least = Math.floor(((usable - 12) * 32) / 255) - 23
    const wanted = least + ((length - least) % (usable - 4))
    const local = wanted <= most ? wanted : least
    return Math.ceil((length - local) / (usable - 4))
  }

  #varint(at: number): number {
    let value = 0
    for (let i = 0; i < 9; i++) {
      const byte = this.#view.getUint8(at + i)
      value = value * 128 + (byte & 0x7f)
      if (byte < 0x80) break
    }
    return value
  }
}
