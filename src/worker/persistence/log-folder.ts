/** A file that is read and written in place, at once. Every call may throw what the platform throws. */
export interface LogFile {
  size(): number
  /** Fills `into` as far as the file goes. */
  read(into: Uint8Array<ArrayBuffer>, at: number): void
  write(bytes: Uint8Array<ArrayBuffer>, at: number): void
  /** What was written is on the disk when this returns. */
  flush(): void
  truncate(size: number): void
  close(): void
}

export interface LogFolder {
  /** Makes it if it is not there. Others may have it open at the same time, and see at once what is written. */
  open(name: string): Promise<LogFile>
}
