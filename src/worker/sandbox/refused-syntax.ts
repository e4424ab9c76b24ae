import type { AnyNode, ImportDeclaration } from 'acorn'
import type { ScriptProblem } from '#engine/ports/sandbox.ts'
import { problemAt } from './script-text.ts'
import { nodesOf, type SyntaxTree } from './syntax-tree.ts'

const AUTHORING_MODULE = 'holdfast'
const AUTHORING_NAMES = ['defineWorkflow', 'defineAgent']
const ONE_FILE = `a workflow is one file. Only defineWorkflow and defineAgent can be imported, from "${AUTHORING_MODULE}".`

const AWAIT_IN_HANDLER = 'await is not available at the top level of a script. Use it inside a handler.'

/** What is good JavaScript but cannot work here, because a script is one file that becomes the body of a function. */
export function refusedSyntax({ code, program }: SyntaxTree): ScriptProblem[] {
  const refused: { start: number; message: string }[] = []
  const requires: number[] = []
  let hasOwnRequire = false
  for (const node of nodesOf(program)) {
    if (node.type === 'ImportDeclaration') refused.push(...refusedImports(node))
    else if (isRequireCall(node)) requires.push(node.start)
    else if (declaresRequire(node)) hasOwnRequire = true
    const message = reasonAgainst(node)
    if (message !== undefined) refused.push({ start: node.start, message })
  }
  if (!hasOwnRequire)
    refused.push(...requires.map((start) => ({ start, message: `require() is not available: ${ONE_FILE}` })))
  for (const node of nodesOf(program, (outer) => !isFunction(outer)))
    if (isAwait(node)) refused.push({ start: node.start, message: AWAIT_IN_HANDLER })
  return refused.sort((a, b) => a.start - b.start).map(({ start, message }) => problemAt(code, start, message))
}

function refusedImports(node: ImportDeclaration): { start: number; message: string }[] {
  const module = JSON.stringify(node.source.value)
  if (node.source.value !== AUTHORING_MODULE)
    return [{ start: node.start, message: `The module ${module} cannot be imported: ${ONE_FILE}` }]
  return node.specifiers.flatMap((specifier) => {
    if (specifier.type !== 'ImportSpecifier')
      return [{ start: specifier.start, message: `The module ${module} can only be imported by name: ${ONE_FILE}` }]
    const name = 'name' in specifier.imported ? specifier.imported.name : String(specifier.imported.value)
    if (AUTHORING_NAMES.includes(name)) return []
    return [{ start: specifier.start, message: `The module ${module} has no ${JSON.stringify(name)}: ${ONE_FILE}` }]
  })
}

function reasonAgainst(node: AnyNode): string | undefined {
  switch (node.type) {
    case 'ExportAllDeclaration':
    case 'ExportNamedDeclaration':
      return node.source
        ? `Nothing can be exported from the module ${JSON.stringify(node.source.value)}: ${ONE_FILE}`
        : undefined
    case 'ExportDefaultDeclaration': {
      const kind = node.declaration.type === 'ClassDeclaration' ? 'class' : 'function'
      return node.declaration.type === 'FunctionDeclaration' || node.declaration.type === 'ClassDeclaration'
        ? `The default export is a ${kind}. It must be the workflow: export default defineWorkflow({ … }).`
        : undefined
    }
    case 'ImportExpression':
      return `import() is not available: ${ONE_FILE}`
    case 'MetaProperty':
      return node.meta.name === 'import' ? 'import.meta is not available: a script has no address.' : undefined
    default:
      return undefined
  }
}

const isFunction = (node: AnyNode): boolean =>
  node.type === 'FunctionDeclaration' || node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression'

const isAwait = (node: AnyNode): boolean =>
  node.type === 'AwaitExpression' || (node.type === 'ForOfStatement' && node.await)

const isRequireCall = (node: AnyNode): boolean =>
  node.type === 'CallExpression' && node.callee.type === 'Identifier' && node.callee.name === 'require'

const declaresRequire = (node: AnyNode): boolean => {
  const id = node.type === 'VariableDeclarator' || node.type === 'FunctionDeclaration' ? node.id : null
  return id?.type === 'Identifier' && id.name === 'require'
}
