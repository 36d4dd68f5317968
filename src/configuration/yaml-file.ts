import { Document, isMap, isScalar, LineCounter, Pair, parseDocument, Scalar, YAMLMap } from 'yaml'
import { AppError } from '../core/error.ts'
import { type Fields, isFields } from './shape.ts'

/** A path in a file: names of fields, and indexes in lists. */
export type Path = readonly (string | number)[]

/** A configuration file that has been read. */
export interface YamlFile {
  /** Name without its folder. */
  name: string
  content: Fields
  /** Returns the position of the field: `tagwarden.yaml:12`. For an absent field, that of the nearest present parent. */
  positionOf(path: Path): string
}

/** Maximum size of a configuration file. */
const MAX_BYTES = 64 * 1024 * 1024

/** Reads a YAML or JSON file. Throws `AppError('invalid')` with the position of the first fault. */
export function readYaml(name: string, text: string): YamlFile {
  if (text.length > MAX_BYTES) throw new AppError('invalid', `${name}: is larger than ${MAX_BYTES / 2 ** 20} MiB`)
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true })
  const positionAt = (offset: number) => `${name}:${lines.linePos(offset).line}`
  const [fault] = document.errors
  if (fault) throw new AppError('invalid', `${positionAt(fault.pos[0])}: ${fault.message}`)
  let content: unknown
  try {
    content = document.toJS({ maxAliasCount: 100 })
  } catch (error) {
    throw new AppError('invalid', `${name}: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (content === null) content = {}
  if (!isFields(content)) throw new AppError('invalid', `${name}:1: must be a map of sections`)
  return {
    name,
    content,
    positionOf(path) {
      for (let length = path.length; length > 0; length--) {
        const offset = offsetOf(document, path.slice(0, length))
        if (offset !== null) return positionAt(offset)
      }
      return `${name}:1`
    },
  }
}

/** Returns the offset of a field's name, or of an item of a list; null if it is absent. */
function offsetOf(document: Document, path: Path): number | null {
  const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true)
  const last = path.at(-1)
  if (isMap(parent)) {
    const pair = parent.items.find(({ key }) => isScalar(key) && String(key.value) === String(last))
    return pair && isScalar(pair.key) ? (pair.key.range?.[0] ?? null) : null
  }
  const node = document.getIn(path, true)
  return (node as { range?: [number] } | undefined)?.range?.[0] ?? null
}

/** Returns the text of a file. Fields have the order of the objects. `header`: comment at the top. */
export function printYaml(content: Fields, header: string): string {
  const document = new Document(content)
  separate(document.contents)
  const comment = header.split('\n').map((line) => (line ? `# ${line}` : '#'))
  return `${comment.join('\n')}\n\n${document.toString({ lineWidth: 0, minContentWidth: 0 })}`
}

/** Puts an empty line before each section, and before each item of a section. */
function separate(contents: unknown): void {
  if (!isMap(contents)) return
  for (const [index, section] of contents.items.entries()) {
    if (index > 0) spaceBefore(section)
    if (!(section.value instanceof YAMLMap)) continue
    const items = section.value.items.filter(({ value }) => value instanceof YAMLMap)
    if (items.length === section.value.items.length) for (const item of items.slice(1)) spaceBefore(item)
  }
}

function spaceBefore(pair: unknown): void {
  if (pair instanceof Pair && pair.key instanceof Scalar) pair.key.spaceBefore = true
}
