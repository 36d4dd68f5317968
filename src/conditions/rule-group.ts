import type { Atom, Finder, RuleEvent, RuleGroup, TextIndex } from './atom.ts'
import { type Condition, EVENT_FIELDS, type EventField, keyReader, LABEL, targetOf } from './condition.ts'
import { placesOf } from './label.ts'
import { spellNumber } from './number.ts'
import type { PhoneRegions } from './phone.ts'
import { indexOf, kindOf } from './text-index.ts'

/** Used by scopes only: users set domains beside the conditions. */
export const DOMAIN = '$domainId'

/** Returns the name of a condition's group: one for each parameter and kind. */
export const groupNameOf = ({ op, parameter }: Condition) => `${kindOf(op)} ${parameter}`

/** Returns an empty group for conditions like this one. */
export function groupOf(condition: Condition, regions: () => PhoneRegions): RuleGroup {
  const index = indexOf(kindOf(condition.op), regions)
  const group = { index, name: groupNameOf(condition), decidedAt: 0, watchers: 0, atoms: 0, defaults: new Set<Atom>() }
  if (condition.parameter === DOMAIN) return { ...group, key: null, find: finderOf(index, DOMAIN, (e) => e.domainId) }
  const target = targetOf(condition)
  if (target.kind === 'any') return { ...group, key: null, find: finderOfAny(index) }
  if (target.kind === 'label') return { ...group, key: null, find: finderOfLabels(index) }
  if (target.kind === 'field') {
    return { ...group, key: null, find: finderOf(index, condition.parameter, fieldReader(target.field)) }
  }
  return { ...group, key: target.key, find: finderOf(index, target.key, keyReader(target.key)) }
}

function finderOf(index: TextIndex, key: string, read: (event: RuleEvent) => string): Finder {
  return (event, holding, meter) => {
    const text = read(event)
    if (text === '') return false
    index.find(text, key, holding, meter)
    return true
  }
}

function finderOfAny(index: TextIndex): Finder {
  return ({ params }, holding, meter) => {
    for (const key in params) index.find(params[key] ?? '', key, holding, meter)
    return true
  }
}

/** Its conditions have places as values, and an event has two. */
function finderOfLabels(index: TextIndex): Finder {
  return (event, holding, meter) => {
    for (const place of placesOf(event)) index.find(place, LABEL, holding, meter)
    return true
  }
}

function fieldReader(field: EventField): (event: RuleEvent) => string {
  if (EVENT_FIELDS[field] === 'number') return (event) => spellNumber(event[field] as number | null)
  return (event) => (event[field] as string | null) ?? ''
}
