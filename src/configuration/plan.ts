import { isDeepStrictEqual } from 'node:util'
import type { CallApi } from './api-client.ts'
import { type DesiredItem, pathText, withoutStored } from './desired.ts'
import type { Organization, PresentItem } from './organization.ts'
import { STORED } from './placeholders.ts'
import type { Section } from './section.ts'
import { SECTIONS } from './sections.ts'
import { type Fields, isFields } from './shape.ts'
import type { Path } from './yaml-file.ts'

/** A field that differs. Absent values are undefined. */
interface Difference {
  path: Path
  before: unknown
  after: unknown
}

/** The changes that applying files makes. */
export interface Plan {
  creates: DesiredItem[]
  updates: { item: DesiredItem; present: PresentItem; differences: Difference[] }[]
  /** Items that are as in the files, and that no file or another file manages. */
  adopts: { item: DesiredItem; present: PresentItem }[]
  /** Items that these files manage and no longer contain. */
  missing: { section: Section; present: PresentItem }[]
}

/** Compares files with an organization. */
export async function planChanges(
  items: readonly DesiredItem[],
  organization: Organization,
  { files, call }: { files: readonly string[]; call: CallApi },
): Promise<Plan> {
  const plan: Plan = { creates: [], updates: [], adopts: [], missing: [] }
  const matched = new Set<PresentItem>()
  for (const item of inOrder(items)) {
    const present = matchOf(item, items, organization)
    if (!present) {
      plan.creates.push(item)
      continue
    }
    matched.add(present)
    const differences = await differencesOf(item, present, call)
    if (differences.length > 0) plan.updates.push({ item, present, differences })
    else if (present.file !== item.file.name || present.key !== item.key) plan.adopts.push({ item, present })
  }
  for (const section of SECTIONS.toReversed()) {
    for (const present of organization.items.get(section.name)?.values() ?? []) {
      const isOurs = present.file !== null && files.includes(present.file)
      if (isOurs && !matched.has(present)) plan.missing.push({ section, present })
    }
  }
  return plan
}

const inOrder = (items: readonly DesiredItem[]): DesiredItem[] =>
  SECTIONS.flatMap((section) => items.filter((item) => item.section === section))

/**
 * Returns the item on the server with the same key. Without one, an item that no file manages and that is equal: an
 * earlier attempt may have created it and failed before it was marked.
 */
function matchOf(
  { section, key, compared }: DesiredItem,
  items: readonly DesiredItem[],
  organization: Organization,
): PresentItem | undefined {
  const present = organization.items.get(section.name)
  const same = present?.get(key)
  if (same) return same
  const named = new Set(items.filter((item) => item.section === section).map((item) => item.key))
  return [...(present?.values() ?? [])].find(
    (one) => one.file === null && !named.has(one.key) && isDeepStrictEqual(withoutStored(one.compared), compared),
  )
}

/**
 * Returns the fields that differ. Secrets that the file does not contain are unchanged; others are compared by the
 * server, because it does not show them.
 */
async function differencesOf(item: DesiredItem, present: PresentItem, call: CallApi): Promise<Difference[]> {
  const { section, written } = item
  const [before, after] = [{ ...present.compared }, { ...item.compared }]
  const { secrets } = section
  if (secrets) {
    const [own, wanted] = [before[secrets.field], after[secrets.field]]
    if (wanted === undefined && secrets.field === 'secrets') delete before[secrets.field]
    else if (isFields(own) && isFields(wanted)) {
      const given = Object.entries(wanted).filter(([name, value]) => own[name] === STORED && value !== STORED)
      const same =
        given.length === 0 ? {} : await sameSecrets(call, secrets.comparePath(present.id), Object.fromEntries(given))
      const compared = Object.entries(wanted).map(([name, value]) => [name, same[name] ? STORED : value])
      after[secrets.field] = Object.fromEntries(compared)
      if (secrets.field === 'config') {
        const named = Object.entries(own).filter(([name, value]) => value !== STORED || name in wanted)
        before[secrets.field] = Object.fromEntries(named)
      }
    }
  }
  return differences(before, after).map((difference) => shown(difference, { section, present, written }))
}

const sameSecrets = async (call: CallApi, path: string, secrets: Fields): Promise<Record<string, boolean>> =>
  (await call('POST', path, { secrets })).same as Record<string, boolean>

function differences(before: unknown, after: unknown, path: Path = []): Difference[] {
  if (isDeepStrictEqual(before, after)) return []
  if (isFields(before) && isFields(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    return names.flatMap((name) => differences(before[name], after[name], [...path, name]))
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((one, index) => differences(one, after[index], [...path, index]))
  }
  return [{ path, before, after }]
}

/** Values that come from placeholders are shown as in the file, because they may be secret. */
function shown(
  { path, before, after }: Difference,
  { section, present, written }: { section: Section; present: PresentItem; written: Fields },
): Difference {
  const { secrets } = section
  const isSecret =
    secrets !== undefined &&
    path[0] === secrets.field &&
    (before === STORED || after === STORED || section.name === 'flowTests')
  return {
    path,
    before: hide(valueAt(present.exported, path) ?? before, isSecret),
    after: hide(valueAt(written, path) ?? after, isSecret),
  }
}

function hide(value: unknown, isSecret: boolean): unknown {
  if (value === undefined) return undefined
  if (value === STORED) return '(secret)'
  return isSecret && !(typeof value === 'string' && value.includes('${')) ? '(secret)' : value
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, part) => (inner as Record<string | number, unknown> | undefined)?.[part], value)
}

const MAX_VALUE_LENGTH = 120

/** Returns a value as JSON, in which stored secrets are hidden; undefined for an absent value. */
const textOf = (value: unknown): string | undefined =>
  JSON.stringify(value, (_name, inner) => (inner === STORED ? '(secret)' : inner))

const valueText = (value: unknown): string => {
  const text = textOf(value) ?? 'absent'
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text
}

/** Returns a plan as JSON. With `prune`, missing items are in `deletes`, otherwise in `missing`. Absent values are null. */
export function planJson({ creates, updates, missing }: Plan, { prune }: { prune: boolean }) {
  const absent = missing.map(({ section, present }) => ({ section: section.name, key: present.key }))
  const shownValue = (value: unknown): unknown => JSON.parse(textOf(value) ?? 'null')
  return {
    creates: creates.map(({ section, key }) => ({ section: section.name, key })),
    updates: updates.map(({ item: { section, key }, differences }) => ({
      section: section.name,
      key,
      differences: differences.map(({ path, before, after }) => ({
        path: pathText(path),
        before: shownValue(before),
        after: shownValue(after),
      })),
    })),
    deletes: prune ? absent : [],
    missing: prune ? [] : absent,
  }
}

/** Returns the lines that describe a plan. With `prune`, missing items are deleted. */
export function planLines(plan: Plan, { prune }: { prune: boolean }): string[] {
  const { creates, updates, adopts, missing } = plan
  const name = ({ noun, isSingle }: Section, key: string) => (isSingle ? noun : `${noun} ${key}`)
  const lines = [
    ...creates.map(({ section, key }) => `+ create ${name(section, key)}`),
    ...updates.flatMap(({ item, differences }) => [
      `~ update ${name(item.section, item.key)}`,
      ...differences.map(
        ({ path, before, after }) => `    ${pathText(path)}: ${valueText(before)} → ${valueText(after)}`,
      ),
    ]),
    ...(prune ? missing.map(({ section, present }) => `- delete ${name(section, present.key)}`) : []),
  ]
  const deletes = prune ? missing.length : 0
  const summary =
    lines.length === 0
      ? ['No changes.']
      : ['', `${creates.length} to create, ${updates.length} to update, ${deletes} to delete.`]
  const notes = [
    ...(adopts.length > 0 ? [`${adopts.length} unchanged, to be marked as managed by file.`] : []),
    ...(!prune && missing.length > 0
      ? [
          `${missing.length} managed by file but no longer in it: ${missing.map(({ section, present }) => name(section, present.key)).join(', ')}. Use --prune to delete.`,
        ]
      : []),
  ]
  return [...lines, ...summary, ...notes]
}

/** True if applying the plan changes an item. */
export const hasChanges = ({ creates, updates, missing }: Plan, { prune }: { prune: boolean }): boolean =>
  creates.length + updates.length + (prune ? missing.length : 0) > 0
