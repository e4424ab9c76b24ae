import type { Expression, ImportDeclaration, Program } from 'acorn'
import type { SyntaxTree } from './syntax-tree.ts'

export interface FunctionBody {
  /** The body of a strict function of `exports`, which leaves the workflow in `exports.default`. */
  code: string
  /** The expression that makes the workflow; undefined when there is none. */
  workflow: Expression | undefined
  /** What the names at the top level stand for. */
  bindings: ReadonlyMap<string, Expression>
  /** By what other names the authoring functions go. */
  aliases: ReadonlyMap<string, string>
}

interface Edit {
  start: number
  end: number
  text: string
}

/** With no default export the binding `workflow` is it. */
const USUAL_NAME = 'workflow'

/** Turns a module without refused syntax into a function body. All that stays, stays where it is. */
export function toFunctionBody({ code, program }: SyntaxTree): FunctionBody {
  const bindings = topLevelBindings(program)
  const aliases = new Map<string, string>()
  const edits: Edit[] = []
  const holder = unusedName(code)
  let name = bindings.has(USUAL_NAME) ? USUAL_NAME : undefined
  let workflow = bindings.get(USUAL_NAME)

  for (const node of program.body) {
    if (node.type === 'ImportDeclaration') {
      for (const [local, imported] of renamedImports(node)) aliases.set(local, imported)
      const renamed = renamedImports(node).map(([local, imported]) => `${local}=${imported}`)
      edits.push({ start: node.start, end: node.end, text: renamed.length === 0 ? ';' : `var ${renamed.join(',')};` })
    } else if (node.type === 'ExportNamedDeclaration') {
      // The semicolon keeps the line before and the line after apart.
      edits.push({ start: node.start, end: node.declaration?.start ?? node.end, text: node.declaration ? '' : ';' })
      for (const { exported, local } of node.specifiers) {
        if (!('name' in exported) || exported.name !== 'default' || !('name' in local)) continue
        name = local.name
        workflow = bindings.get(name)
      }
    } else if (node.type === 'ExportDefaultDeclaration') {
      edits.push({ start: node.start, end: node.declaration.start, text: `${holder}=` })
      name = holder
      workflow = node.declaration as Expression
    }
  }

  const declared = name === holder ? `var ${holder};` : ''
  const ending = name === undefined ? '' : `\n;${declared}exports.default=${name}`
  return { code: applyEdits(code, edits) + ending, workflow, bindings, aliases }
}

function renamedImports(node: ImportDeclaration): [local: string, imported: string][] {
  return node.specifiers.flatMap((specifier) => {
    if (specifier.type !== 'ImportSpecifier' || !('name' in specifier.imported)) return []
    const { imported, local } = specifier
    return local.name === imported.name ? [] : [[local.name, imported.name]]
  })
}

function topLevelBindings(program: Program): Map<string, Expression> {
  const bindings = new Map<string, Expression>()
  for (const node of program.body) {
    const declaration = node.type === 'ExportNamedDeclaration' ? node.declaration : node
    if (declaration?.type !== 'VariableDeclaration') continue
    for (const { id, init } of declaration.declarations)
      if (id.type === 'Identifier' && init) bindings.set(id.name, init)
  }
  return bindings
}

/** At most 13 characters with its equals sign: it takes the place of `export default`. */
function unusedName(code: string): string {
  let name = '$default'
  for (let n = 0; code.includes(name); n += 1) name = `$d${n}`
  return name
}

/** What follows an edit on its line keeps its column: every text is shorter than what it replaces, or alone on its line. */
function applyEdits(code: string, edits: readonly Edit[]): string {
  let result = ''
  let from = 0
  for (const { start, end, text } of edits) {
    const [first = '', ...rest] = code.slice(start, end).split('\n')
    const blanked = rest.map((line) => ' '.repeat(line.length))
    result += code.slice(from, start) + [text.padEnd(first.length), ...blanked].join('\n')
    from = end
  }
  return result + code.slice(from)
}
