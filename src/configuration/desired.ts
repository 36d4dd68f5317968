import { AppError } from '../core/error.ts'
import { parser, type TSchema } from '../core/schema.ts'
import { fillDefaults } from './defaults.ts'
import type { Organization } from './organization.ts'
import { fillPlaceholders, STORED } from './placeholders.ts'
import type { Section } from './section.ts'
import { SECTIONS, sectionOf } from './sections.ts'
import { type Fields, filePathOf, isFields, type Referred, SECTION_NAMES, type SectionName, toApi } from './shape.ts'
import type { Path, YamlFile } from './yaml-file.ts'

/** Version of the file format. */
export const FILE_VERSION = 1
/** Keys of items: they identify an item across renames. */
export const KEY_PATTERN = '^[a-z][a-z0-9-]{0,99}$'
const KEY = new RegExp(KEY_PATTERN)

/** An item in a file. */
export interface DesiredItem {
  section: Section
  key: string
  file: YamlFile
  /** As written, with placeholders. */
  written: Fields
  /** With the values of placeholders. Secrets that the server has are `STORED`. */
  filled: Fields
  /** Like `filled`, with defaults. */
  compared: Fields
}

/** Thrown for files with faults, one per line, each with its position and field. */
export class FileFaults extends Error {
  override readonly name = 'FileFaults'
  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'))
  }
}

/** Path of an item in its file. */
const itemPath = ({ section, key }: Pick<DesiredItem, 'section' | 'key'>): Path =>
  section.isSingle ? [section.name] : [section.name, key]

/** Returns the text of a path: `alerts.purchase.channels[0]`. */
export const pathText = (path: Path): string =>
  path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${part}` : part),
    '',
  )

/**
 * Returns the items in files, with the values of placeholders. Throws `FileFaults` for unknown sections and fields,
 * duplicate items, variables without a value, and values that the server would reject.
 */
export function readDesired(
  files: readonly YamlFile[],
  organization: Organization,
  env: NodeJS.ProcessEnv,
): DesiredItem[] {
  const faults: string[] = []
  const fault = (file: YamlFile, path: Path, message: string) =>
    void faults.push(`${file.positionOf(path)}: ${path.length > 0 ? `${pathText(path)}: ` : ''}${message}`)
  const items = files.flatMap((file) => itemsIn(file, fault))
  const first = new Map<string, DesiredItem>()
  for (const item of items) {
    const path = itemPath(item)
    const other = first.get(pathText(path))
    if (other) fault(item.file, path, `is also in ${other.file.positionOf(path)}`)
    first.set(pathText(path), item)
  }
  for (const item of items) fillItem(item, { organization, env, fault })
  // Fields that depend on a missing variable would cause further faults.
  if (faults.length > 0) throw new FileFaults(faults)
  const isNamed = (to: Referred, key: string) => first.has(`${to}.${key}`) || hasItem(organization, to, key)
  for (const item of items) checkItem(item, { isNamed, isUnchanged: isUnchanged(item, organization), fault })
  if (faults.length > 0) throw new FileFaults(faults)
  return items
}

type Fault = (file: YamlFile, path: Path, message: string) => void

function itemsIn(file: YamlFile, fault: Fault): DesiredItem[] {
  const { version = FILE_VERSION, ...sections } = file.content
  if (version !== FILE_VERSION) fault(file, ['version'], `must be ${FILE_VERSION}`)
  return Object.entries(sections).flatMap(([name, content]): DesiredItem[] => {
    const section = sectionOf(name)
    if (!section) {
      fault(file, [name], `there is no such section; use ${SECTION_NAMES.join(', ')}`)
      return []
    }
    if (content === null) return []
    if (!isFields(content)) {
      fault(file, [name], 'must be a map')
      return []
    }
    const entries: [string, unknown][] = section.isSingle ? [[section.name, content]] : Object.entries(content)
    return entries.flatMap(([key, written]) => {
      if (!section.isSingle && !KEY.test(key)) {
        fault(
          file,
          [name, key],
          'a key must consist of lower-case letters, digits and hyphens, and begin with a letter',
        )
        return []
      }
      if (!isFields(written)) {
        fault(file, [name, key], 'must be a map of fields')
        return []
      }
      return [{ section, key, file, written, filled: written, compared: written }]
    })
  })
}

function fillItem(
  item: DesiredItem,
  { organization, env, fault }: { organization: Organization; env: NodeJS.ProcessEnv; fault: Fault },
): void {
  const { section, key, file, written } = item
  const present = organization.items.get(section.name)?.get(key)
  const { value, unset } = fillPlaceholders(written, env, organization.known)
  for (const { name, path } of unset) {
    fault(file, [...itemPath(item), ...path], `the environment variable ${name} is not set`)
  }
  const filled = value as Fields
  try {
    const normal = section.normalise?.(filled) ?? filled
    for (const name of section.keeps ?? []) {
      if (normal[name] === undefined && present?.compared[name] !== undefined) normal[name] = present.compared[name]
    }
    Object.assign(item, { filled: normal, compared: fillDefaults(section.defaults, normal) })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    for (const one of error.faults) reportFault(item, one, fault)
  }
}

const hasItem = ({ items, members }: Organization, to: Referred, key: string): boolean =>
  to === 'members' ? members.has(key.toLowerCase()) : (items.get(to)?.has(key) ?? false)

function isUnchanged({ section, key, compared }: DesiredItem, { items }: Organization): boolean {
  return Bun.deepEquals(items.get(section.name)?.get(key)?.compared, compared)
}

const parsers = new Map<SectionName, (value: unknown) => unknown>()

function parserOf({ name, input }: Section): (value: unknown) => unknown {
  const parse = parsers.get(name) ?? parser(input as TSchema)
  parsers.set(name, parse)
  return parse
}

function checkItem(
  item: DesiredItem,
  { isNamed, isUnchanged, fault }: { isNamed(to: Referred, key: string): boolean; isUnchanged: boolean; fault: Fault },
): void {
  const { section, filled, file } = item
  // The server has accepted it. It may refer to items that have been deleted since.
  if (isUnchanged) return
  const at = (path: string) => [...itemPath(item), ...pathOf(path)]
  const fields = toApi(section.shape, withoutStored(filled), {
    idOf(to, key, path) {
      const what = to === 'members' ? 'active member with the e-mail address' : `item of ${to} with the key`
      if (!isNamed(to, key)) fault(file, at(path), `there is no ${what} "${key}"`)
      return key
    },
    misnamed: (path, name) => fault(file, at(path), `use \`${name}\` with a key instead of an id`),
  })
  const checks = section.check ? [section.check] : [parserOf(section)]
  for (const check of checks) {
    try {
      check(fields)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      for (const one of error.faults) reportFault(item, one, fault)
    }
  }
}

/** Reports an error of the API, which begins with a field, at its position in the file. */
function reportFault(item: DesiredItem, message: string, fault: Fault): void {
  const { path, words } = locate(item, message)
  fault(item.file, path, words)
}

/** Splits an error of the API into the path in the file and what is wrong there. */
function locate(item: DesiredItem, message: string): { path: Path; words: string } {
  const [, field, words] = /^([\w$.[\]-]+): (.*)$/s.exec(message) ?? []
  const named = field === undefined ? [] : pathOf(field)
  const [name] = named
  const inFile = filePathOf(item.section.shape, named)
  const isField =
    typeof name === 'string' && (name in item.section.input.properties || name in item.written || name !== field)
  if (field === undefined || words === undefined || !isField) return { path: itemPath(item), words: message }
  return { path: [...itemPath(item), ...inFile], words }
}

/** Returns an error of the API with the position and the field in the file. */
export function describeRejection(item: DesiredItem, message: string): string {
  const { path, words } = locate(item, message)
  return `${item.file.positionOf(path)}: ${pathText(path)}: ${words}`
}

/** Converts `items[2].values` to a path. */
const pathOf = (text: string): (string | number)[] =>
  [...text.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([part, index]) => (index === undefined ? part : Number(index)))

/** Returns the fields without secrets that the server keeps. */
export function withoutStored(fields: Fields): Fields {
  const kept = Object.entries(fields).flatMap(([name, value]): [string, unknown][] => {
    if (value === STORED) return []
    return [[name, isFields(value) ? withoutStored(value) : value]]
  })
  return Object.fromEntries(kept)
}

/** The number of items in each section, in the order of the sections: `3 alerts, 1 label`. */
export function countText(items: readonly { section: Section }[]): string {
  const counts = SECTIONS.map((section) => [section, items.filter((item) => item.section === section).length] as const)
  return counts
    .filter(([, count]) => count > 0)
    .map(([{ noun, isSingle }, count]) => (isSingle ? noun : `${count} ${noun}${count === 1 ? '' : 's'}`))
    .join(', ')
}
