import * as v from 'valibot'
import type { ToolOutcome } from '#engine/ports/tools.ts'
import { fromBase64, toBase64 } from '../base64.ts'
import { defineMethod, oneObject, type DocumentedMethod } from '../define-method.ts'
import type { KeyValue } from '../key-value.ts'
import { refused, succeeded } from '../outcomes.ts'
import { createFileMutations, Impossible, typeOf } from './file-mutations.ts'
import { isFolderName, type Folder, type Folders } from './folder.ts'
import { createJournal, printOf } from './journal.ts'

const MOST_BYTES = 6_000_000

const folder = v.pipe(
  v.string(),
  v.check(isFolderName, 'a folder is the name you gave it when you picked it, such as reports'),
)
const isInside = (path: string): boolean =>
  path.split('/').every((part) => part !== '' && part !== '.' && part !== '..' && !/[\\:*?"<>|\p{Cc}]/u.test(part))
const path = v.pipe(
  v.string(),
  v.maxLength(1_000),
  v.check(
    isInside,
    'must be a path inside of the folder, such as 2026/january.csv: no .., no leading /, none of \\ : * ? " < > |',
  ),
)

export interface FileToolsDeps {
  folders: Folders
  journal: KeyValue
  now: () => number
}

export function createFileTools({ folders, journal, now }: FileToolsDeps): DocumentedMethod[] {
  const mutations = createFileMutations(folders, createJournal(journal, now))
  const permissions = (input: { folder: string }) => [`files:${input.folder}`]

  const read = (name: string, work: (folder: Folder) => Promise<ToolOutcome>) =>
    mutations.withFolder(name, async (opened) => {
      try {
        return await work(opened)
      } catch (error) {
        return refused(typeOf(error), `The folder "${name}" could not be read: ${String(error)}`)
      }
    })

  return [
    defineMethod({
      name: 'files.list',
      kind: 'read',
      title: 'List files in a folder of yours',
      doc: {
        signature:
          "(options: { folder: string; path?: string }) => Promise<{ name: string; kind: 'file' | 'folder' }[]>",
        text: 'What is in a folder that you picked, or in the folder `path` below it.',
        example:
          "const entries = await ctx.files.list({ folder: 'reports' })\nreturn entries.map((entry) => entry.name)",
      },
      arguments: oneObject,
      input: v.strictObject({ folder, path: v.exactOptional(path) }),
      permissions,
      call: ({ folder, path = '' }) =>
        read(folder, async (opened) => {
          const entries = await opened.list(path)
          if (!entries) return refused('logic', `There is no folder "${path}" in "${folder}"`)
          return succeeded(entries.map((entry) => ({ ...entry })))
        }),
    }),
    defineMethod({
      name: 'files.stat',
      kind: 'read',
      title: 'Look at a file in a folder of yours',
      doc: {
        signature:
          "(file: { folder: string; path: string }) => Promise<{ kind: 'file' | 'folder'; size: number; modifiedAt: string | null } | null>",
        text: 'Kind, size and time of a file; null when there is none.',
        example: "const stat = await ctx.files.stat({ folder: 'reports', path: 'january.csv' })\nreturn stat?.size",
      },
      arguments: oneObject,
      input: v.strictObject({ folder, path }),
      permissions,
      call: ({ folder, path }) =>
        read(folder, async (opened) => {
          const stat = await opened.stat(path)
          return succeeded(stat ? { ...stat } : null)
        }),
    }),
    defineMethod({
      name: 'files.read',
      kind: 'read',
      title: 'Read a file in a folder of yours',
      doc: {
        signature: "(file: { folder: string; path: string; as?: 'text' | 'base64' }) => Promise<string>",
        text: 'The content of a file, as text (UTF-8) unless told otherwise.',
        example:
          "const text = await ctx.files.read({ folder: 'reports', path: 'january.csv' })\nreturn await ctx.parse.csv(text)",
      },
      arguments: oneObject,
      input: v.strictObject({ folder, path, as: v.optional(v.picklist(['text', 'base64']), 'text') }),
      permissions,
      call: ({ folder, path, as }) =>
        read(folder, async (opened) => {
          const stat = await opened.stat(path)
          if (stat?.kind !== 'file') return refused('logic', `There is no file "${path}" in "${folder}"`)
          if (stat.size > MOST_BYTES) return refused('logic', `"${path}" is larger than ${MOST_BYTES} bytes`)
          const bytes = (await opened.read(path)) ?? new Uint8Array()
          return succeeded(as === 'text' ? new TextDecoder().decode(bytes) : toBase64(bytes))
        }),
    }),
    defineMethod({
      name: 'files.write',
      kind: 'mutation',
      title: 'Write a file in a folder of yours',
      doc: {
        signature:
          '(file: { folder: string; path: string; text: string } | { folder: string; path: string; base64: string }) => Promise<{ path: string }>',
        text: 'Writes the whole file; one that is there is replaced. Folders on the way are made.',
        example:
          "await ctx.files.write({ folder: 'reports', path: '2026/january.csv', text: 'name,amount\\nAda,12\\n' })",
      },
      arguments: oneObject,
      input: v.pipe(
        v.strictObject({
          folder,
          path,
          text: v.exactOptional(v.string()),
          base64: v.exactOptional(v.pipe(v.string(), v.base64())),
        }),
        v.check(
          ({ text, base64 }) => (text === undefined) !== (base64 === undefined),
          'give either `text` or `base64`',
        ),
      ),
      permissions,
      call: ({ folder, path, text, base64 }, call) =>
        mutations.perform(folder, call, { path }, async (opened) => {
          await refuseFolder(opened, path)
          const bytes = base64 === undefined ? new TextEncoder().encode(text) : fromBase64(base64)
          return {
            before: { [path]: await printOf(await opened.read(path)) },
            after: { [path]: await printOf(bytes) },
            value: { path },
            act: () => opened.write(path, bytes),
          }
        }),
      reconcile: ({ folder, path }, call) => mutations.reconcile(folder, call, { path }),
      whereToCheck: ({ folder, path }) => `Open "${path}" in your folder "${folder}".`,
    }),
    defineMethod({
      name: 'files.append',
      kind: 'mutation',
      title: 'Add to a file in a folder of yours',
      doc: {
        signature: '(file: { folder: string; path: string; text: string }) => Promise<{ path: string }>',
        text: 'Adds text at the end of a file, which is made if it is not there.',
        example: "await ctx.files.append({ folder: 'reports', path: 'log.txt', text: 'done\\n' })",
      },
      arguments: oneObject,
      input: v.strictObject({ folder, path, text: v.string() }),
      permissions,
      call: ({ folder, path, text }, call) =>
        mutations.perform(folder, call, { path }, async (opened) => {
          await refuseFolder(opened, path)
          const old = await opened.read(path)
          const bytes = concat(old ?? new Uint8Array(), new TextEncoder().encode(text))
          return {
            before: { [path]: await printOf(old) },
            after: { [path]: await printOf(bytes) },
            value: { path },
            act: () => opened.write(path, bytes),
          }
        }),
      reconcile: ({ folder, path }, call) => mutations.reconcile(folder, call, { path }),
      whereToCheck: ({ folder, path }) => `Look at the end of "${path}" in your folder "${folder}".`,
    }),
    defineMethod({
      name: 'files.move',
      kind: 'mutation',
      title: 'Move a file in a folder of yours',
      doc: {
        signature: '(file: { folder: string; path: string; to: string }) => Promise<{ path: string }>',
        text: 'Moves or renames a file inside of one folder. A file that is already there is never overwritten.',
        example: "await ctx.files.move({ folder: 'reports', path: 'january.csv', to: 'done/january.csv' })",
      },
      arguments: oneObject,
      input: v.pipe(
        v.strictObject({ folder, path, to: path }),
        v.check(({ path, to }) => path !== to, '`path` and `to` are the same'),
      ),
      permissions,
      call: ({ folder, path, to }, call) =>
        mutations.perform(folder, call, { path: to }, async (opened, earlier) => {
          const [bytes, there] = [await opened.read(path), await opened.read(to)]
          if (!bytes) throw new Impossible(`There is no file "${path}" in "${folder}"`)
          await refuseFolder(opened, to)
          const print = await printOf(bytes)
          // An earlier attempt may have been cut off between copying and removing: then the copy, or its beginning, is ours.
          const isCopied = (await printOf(there)) === print
          const isOurs =
            earlier?.before[to] === null && earlier.after[to] === print && (isCopied || there?.length === 0)
          if (there && !isOurs) throw new Impossible(`There is already a file "${to}" in "${folder}"`)
          return {
            before: { [path]: print, [to]: null },
            after: { [path]: null, [to]: print },
            value: { path: to },
            async act() {
              if (!isCopied) await opened.write(to, bytes)
              await opened.remove(path)
            },
          }
        }),
      reconcile: ({ folder, to }, call) => mutations.reconcile(folder, call, { path: to }),
      whereToCheck: ({ folder, path, to }) => `Look whether "${path}" has become "${to}" in your folder "${folder}".`,
    }),
    defineMethod({
      name: 'files.remove',
      kind: 'mutation',
      title: 'Remove a file in a folder of yours',
      doc: {
        signature: '(file: { folder: string; path: string }) => Promise<{ path: string }>',
        text: 'Removes a file for good. Folders are not removed.',
        example: "await ctx.files.remove({ folder: 'reports', path: 'january.csv' })",
      },
      arguments: oneObject,
      input: v.strictObject({ folder, path }),
      permissions,
      call: ({ folder, path }, call) =>
        mutations.perform(folder, call, { path }, async (opened) => {
          const bytes = await opened.read(path)
          if (!bytes) throw new Impossible(`There is no file "${path}" in "${folder}"`)
          return {
            before: { [path]: await printOf(bytes) },
            after: { [path]: null },
            value: { path },
            act: () => opened.remove(path),
          }
        }),
      reconcile: ({ folder, path }, call) => mutations.reconcile(folder, call, { path }),
      whereToCheck: ({ folder, path }) => `Look whether "${path}" is still in your folder "${folder}".`,
    }),
  ]
}

async function refuseFolder(opened: Folder, path: string): Promise<void> {
  if ((await opened.stat(path))?.kind === 'folder') throw new Impossible(`"${path}" is a folder, not a file`)
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(a.length + b.length)
  whole.set(a)
  whole.set(b, a.length)
  return whole
}
