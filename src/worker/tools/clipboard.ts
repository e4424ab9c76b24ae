import * as v from 'valibot'
import { defineMethod, valueAndOptions, type DocumentedMethod } from './define-method.ts'
import { refused, succeeded } from './outcomes.ts'

/** Workers have no clipboard: a page that is open and in front has to do it. */
export interface Clipboard {
  /** Rejects when the clipboard was not changed. */
  writeText(text: string): Promise<void>
}

export function createClipboardTools(clipboard: Clipboard): DocumentedMethod[] {
  return [
    defineMethod({
      name: 'clipboard.write',
      kind: 'mutation',
      title: 'Copy text to the clipboard',
      doc: {
        signature: '(text: string) => Promise<null>',
        text: 'Copies a text to the clipboard. Browsers allow it only while the window is in front; otherwise it is tried again later.',
        example: "await ctx.clipboard.write('The answer is 42')",
      },
      arguments: valueAndOptions('text'),
      input: v.strictObject({ text: v.pipe(v.string(), v.maxLength(1_000_000)) }),
      permissions: () => ['clipboard'],
      async call({ text }) {
        try {
          await clipboard.writeText(text)
          return succeeded(null)
        } catch (error) {
          return refused(
            'network',
            `The clipboard can be written only while the window of the app is in front (${String(error)})`,
          )
        }
      },
      whereToCheck: () => 'Paste the clipboard somewhere.',
    }),
  ]
}
