const encoder = new TextEncoder()

export const utf8Bytes = (text: string): number => encoder.encode(text).length

/** A character takes one to three bytes: most texts are judged by their length alone. */
export const isLongerThan = (text: string, bytes: number): boolean =>
  text.length > bytes || (text.length * 3 > bytes && utf8Bytes(text) > bytes)
