import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

const frame = EditorView.theme({
  '&': { color: 'var(--color-text)', backgroundColor: 'var(--color-surface)', fontSize: 'var(--text-s)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.6' },
  '.cm-content': { caretColor: 'var(--color-accent)', paddingBlock: 'var(--space-2)' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--color-accent)', borderLeftWidth: '2px' },
  '.cm-gutters': {
    border: 'none',
    backgroundColor: 'var(--color-surface)',
    color: 'var(--color-text-faint)',
    fontVariantNumeric: 'tabular-nums',
  },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--color-accent) 5%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--color-text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--color-accent) 24%, transparent)',
  },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': {
    backgroundColor: 'color-mix(in srgb, var(--color-accent) 18%, transparent)',
  },
  '.cm-selectionMatch': { backgroundColor: 'color-mix(in srgb, var(--color-warn) 18%, transparent)' },
  '.cm-foldPlaceholder': {
    border: '1px solid var(--color-line)',
    backgroundColor: 'var(--color-sunken)',
    color: 'var(--color-text-soft)',
  },
})

const floating = EditorView.theme({
  '.cm-tooltip, .cm-panels': {
    border: '1px solid var(--color-line)',
    backgroundColor: 'var(--color-raised)',
    color: 'var(--color-text)',
  },
  '.cm-tooltip': { borderRadius: 'var(--radius)', boxShadow: 'var(--shadow-l)', maxInlineSize: 'min(36rem, 92vw)' },
  '.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--font-mono)', padding: 'var(--space-1)' },
  '.cm-tooltip-autocomplete > ul > li': { borderRadius: 'var(--radius-s)', padding: '2px var(--space-2)' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--color-selected)',
    color: 'var(--color-text)',
  },
  '.cm-completionMatchedText': { color: 'var(--color-accent)', textDecoration: 'none', fontWeight: '600' },
  '.cm-completionIcon': { color: 'var(--color-text-faint)', opacity: '1' },
  '.cm-explanation': { padding: 'var(--space-2) var(--space-3)', display: 'grid', gap: 'var(--space-1)' },
  '.cm-explanation code': { fontFamily: 'var(--font-mono)', whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' },
  '.cm-explanation p': { fontFamily: 'var(--font-body)', color: 'var(--color-text-soft)' },
  '.cm-diagnostic': {
    fontFamily: 'var(--font-body)',
    whiteSpace: 'pre-wrap',
    padding: 'var(--space-1) var(--space-3)',
  },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--color-bad)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--color-warn)' },
  '.cm-textfield': {
    border: '1px solid var(--color-line-control)',
    borderRadius: 'var(--radius-s)',
    backgroundColor: 'var(--color-surface)',
    color: 'var(--color-text)',
  },
  '.cm-button': {
    border: '1px solid var(--color-line-strong)',
    borderRadius: 'var(--radius-s)',
    backgroundImage: 'none',
    backgroundColor: 'var(--color-surface)',
    color: 'var(--color-text)',
  },
})

/** The grounds are faint and the changed words underlined, so that the text keeps its contrast. */
const changes = EditorView.theme({
  '.cm-changedLine, .cm-insertedLine': {
    backgroundColor: 'color-mix(in srgb, var(--color-good) 6%, transparent) !important',
  },
  '.cm-deletedChunk, .cm-deletedLine': {
    backgroundColor: 'color-mix(in srgb, var(--color-bad) 6%, transparent) !important',
  },
  '.cm-changedText': { background: 'none !important', boxShadow: 'inset 0 -2px var(--color-good)' },
  '.cm-deletedText': { background: 'none !important', boxShadow: 'inset 0 -2px var(--color-bad)' },
  '.cm-changedLineGutter': { background: 'var(--color-good) !important' },
  '.cm-deletedLineGutter': { background: 'var(--color-bad) !important' },
  '.cm-collapsedLines': {
    background: 'var(--color-sunken)',
    color: 'var(--color-text-soft)',
    fontFamily: 'var(--font-body)',
  },
})

/** Every colour reaches AA on the surface in both themes. */
const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'light-dark(#7c3aad, #cfa5f5)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--color-good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--color-warn)' },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: 'var(--color-busy)' },
  { tag: [tags.typeName, tags.className, tags.standard(tags.name)], color: 'var(--color-accent)' },
  { tag: tags.comment, color: 'var(--color-text-faint)', fontStyle: 'italic' },
  { tag: [tags.punctuation, tags.operator], color: 'var(--color-text-soft)' },
  { tag: tags.invalid, color: 'var(--color-bad)' },
])

export const codeTheme: Extension = [frame, floating, changes, syntaxHighlighting(colours)]
