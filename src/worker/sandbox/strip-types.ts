import { err, ok, type Result } from '#engine/model/result.ts'
import type { ScriptProblem } from '#engine/ports/sandbox.ts'
import { alignColumns } from './align-columns.ts'
import { syntaxErrorToProblem, tooDeep } from './syntax-problem.ts'

/** Reads of one character of the source; ordinary code needs two. */
const READS_PER_CHAR = 50
const FREE_READS = 100_000

class TooManyReads extends Error {}

/**
 * The parser below goes back and tries again where TypeScript is ambiguous, and doubles its work with each such place inside
 * another: a hundred characters can keep it busy for days. So it gets its source through an object that counts how often it is
 * read. Unlike a time limit this needs no second thread and ends at the same place every time.
 */
class CountedSource extends String {
  #readsLeft: number

  constructor(source: string) {
    super(source)
    this.#readsLeft = FREE_READS + source.length * READS_PER_CHAR
  }

  override charCodeAt(index: number): number {
    this.#readsLeft -= 1
    if (this.#readsLeft < 0) throw new TooManyReads()
    return super.charCodeAt(index)
  }
}

/** JavaScript with every line, and as far as possible every column, where it was. */
export async function stripTypes(
  source: string,
): Promise<Result<{ stripped: string; aligned: string }, ScriptProblem>> {
  const { transform } = await import('sucrase')
  try {
    const counted = new CountedSource(source) as unknown as string
    const { code } = transform(counted, { transforms: ['typescript'], disableESTransforms: true })
    return ok({ stripped: code, aligned: alignColumns(source, code) })
  } catch (error) {
    if (error instanceof TooManyReads) return err(tooDeep(source))
    if (error instanceof SyntaxError || error instanceof RangeError) return err(syntaxErrorToProblem(error, source))
    // It lost its way in a text that is no program. The next parser says where, or takes it as plain JavaScript.
    return ok({ stripped: source, aligned: source })
  }
}
