import { tagManagerTemplate } from '../../../capture/snippet.ts'
import type { Entity, Parameter, Tag } from './tag-manager-entities.ts'

/** What workspace, template and trigger are called. */
export const OUR_NAME = 'Tagwarden'

const text = (key: string, value: string): Parameter => ({ type: 'template', key, value })

export const desiredTemplate = (scriptUrl: string) => ({
  name: OUR_NAME,
  templateData: tagManagerTemplate(scriptUrl),
})

/** The callback of an event names the tags that ran in it, so our tag has to run in every one. */
export const DESIRED_TRIGGER = {
  name: OUR_NAME,
  type: 'customEvent',
  customEventFilter: [{ type: 'matchRegex', parameter: [text('arg0', '{{_event}}'), text('arg1', '.*')] }],
}

export interface OurTag {
  name: string
  type: string
  triggerId: string
  scriptUrl: string
  /** Names of variables; empty: none. */
  customerIdVariable: string
  sessionIdVariable: string
  allowedDomains: readonly string[]
  /** Empty: all are reported. */
  selectedTagIds: readonly string[]
}

const variable = (name: string) => (name === '' ? '' : `{{${name}}}`)

export function desiredTag(ours: OurTag) {
  const { name, type, triggerId, scriptUrl, customerIdVariable, sessionIdVariable } = ours
  const parameters = {
    scriptUrl,
    customerId: variable(customerIdVariable),
    sessionId: variable(sessionIdVariable),
    // The template takes subdomains in by itself.
    allowedDomains: ours.allowedDomains.map((domain) => domain.replace(/^\*\./, '')).join(','),
    selectedTags: ours.selectedTagIds.join(','),
  }
  return {
    ...{ name, type },
    parameter: Object.entries(parameters).flatMap(([key, value]) => (value === '' ? [] : [text(key, value)])),
    firingTriggerId: [triggerId],
    tagFiringOption: 'oncePerEvent',
    // It would report itself, and its report is an event of the page.
    monitoringMetadata: { type: 'map', map: [text('exclude', 'true')] },
    consentSettings: { consentStatus: 'notNeeded' },
  }
}

/** Makes a thing what is wanted, with everything else that it has; null when it is that. */
export function withDesired<E extends Entity>(present: E, wanted: object): E | null {
  const isThere = Object.entries(wanted).every(([field, value]) => isSame(present[field], value))
  return isThere ? null : { ...present, ...wanted }
}

const isSame = (present: unknown, wanted: unknown): boolean => Bun.deepEquals(plain(present), plain(wanted))

/** Without what says nothing: how parameters are ordered, which of them are empty, how a text ends. */
function plain(value: unknown): unknown {
  if (typeof value === 'string') return value.trimEnd()
  if (Array.isArray(value)) {
    const parts = value.map(plain)
    const keyOf = (part: unknown) => String((part as Parameter | null)?.key ?? '')
    return parts.some(keyOf) ? parts.filter(saysSomething).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) : parts
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]))
}

const saysSomething = (part: unknown) => (part as Parameter).value !== ''

/** The tag's own name in its report. */
const NAME_KEY = 'name'

/** What a report has of itself, and what keeps a tag out of it. */
export const RESERVED_REPORT_KEYS = ['id', NAME_KEY, 'status', 'executionTime', 'exclude']

const entryOf = (name: string): Parameter => text(name, variable(name))

/** True for an entry as it is made here: a variable under its own name. */
const isOurs = ({ key = '', value }: Parameter) => value === variable(key)

/**
 * Gives a tag the metadata with which it is reported, its name and these variables, and leaves all else as it is; null when
 * it has them. Entries of others stay, those of variables that are not wanted any more go.
 */
export function withReportMetadata(tag: Tag, variables: readonly string[]): Tag | null {
  const present = tag.monitoringMetadata?.map ?? []
  const isWanted = ({ key = '' }: Parameter) => variables.includes(key)
  const kept = present
    .filter((entry) => isWanted(entry) || !isOurs(entry))
    .map((entry) => (isWanted(entry) && !isOurs(entry) ? entryOf(entry.key ?? '') : entry))
  const added = variables.filter((name) => !kept.some(({ key }) => key === name)).map(entryOf)
  const map = [...kept, ...added]
  const isThere = tag.monitoringMetadataTagNameKey === NAME_KEY && Bun.deepEquals(map, present)
  if (isThere) return null
  const hasMetadata = map.length > 0 || present.length > 0
  return {
    ...tag,
    monitoringMetadataTagNameKey: NAME_KEY,
    ...(hasMetadata ? { monitoringMetadata: { ...tag.monitoringMetadata, type: 'map', map } } : {}),
  }
}
