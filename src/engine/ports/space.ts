/** The room that the database takes. */
export interface Space {
  /** `freeBytes` lie unused inside of the file. */
  read(): { fileBytes: number; freeBytes: number }
  /** Makes the file as short as what is in it, and resolves when that is on disk. The engine stands still for part of it. */
  giveBack(): Promise<void>
}
