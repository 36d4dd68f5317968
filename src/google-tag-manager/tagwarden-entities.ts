import { tagManagerTemplate } from '../capture/snippet.ts'
import type { Entity, Parameter, Tag } from './tag-manager-entities.ts'

/** Name of Tagwarden's workspace, template and trigger. */
export const OWN_NAME = 'Tagwarden'

const text = (key: string, value: string): Parameter => ({ type: 'template', key, value })

export const desiredTemplate = (scriptUrl: string) => ({
  name: OWN_NAME,
  templateData: tagManagerTemplate(scriptUrl),
})

/** Fires on every event because the event callback lists only the tags that fired on the same event. */
export const DESIRED_TRIGGER = {
  name: OWN_NAME,
  type: 'customEvent',
  customEventFilter: [{ type: 'matchRegex', parameter: [text('arg0', '{{_event}}'), text('arg1', '.*')] }],
}

interface OwnTag {
  name: string
  type: string
  triggerId: string
  scriptUrl: string
  /** Names of variables. An empty name means that no variable is used. */
  customerIdVariable: string
  sessionIdVariable: string
  allowedDomains: readonly string[]
  /** If empty, all tags are reported. */
  selectedTagIds: readonly string[]
}

const variable = (name: string) => (name === '' ? '' : `{{${name}}}`)

export function desiredTag(tag: OwnTag) {
  const { name, type, triggerId, scriptUrl, customerIdVariable, sessionIdVariable } = tag
  const parameters = {
    scriptUrl,
    customerId: variable(customerIdVariable),
    sessionId: variable(sessionIdVariable),
    // The template includes subdomains automatically.
    allowedDomains: tag.allowedDomains.map((domain) => domain.replace(/^\*\./, '')).join(','),
    selectedTags: tag.selectedTagIds.join(','),
  }
  return {
    name,
    type,
    parameter: Object.entries(parameters).flatMap(([key, value]) => (value === '' ? [] : [text(key, value)])),
    firingTriggerId: [triggerId],
    tagFiringOption: 'oncePerEvent',
    // Otherwise the tag would report itself.
    monitoringMetadata: { type: 'map', map: [text('exclude', 'true')] },
    consentSettings: { consentStatus: 'notNeeded' },
  }
}

/**
 * Returns the entity with the desired fields set and all other fields preserved. Null if the desired fields are already
 * set.
 */
export function withDesired<E extends Entity>(present: E, desired: object): E | null {
  const isUnchanged = Object.entries(desired).every(([field, value]) => isSame(present[field], value))
  return isUnchanged ? null : { ...present, ...desired }
}

const isSame = (present: unknown, desired: unknown): boolean => Bun.deepEquals(normalize(present), normalize(desired))

/** Removes irrelevant differences: the order of parameters, empty parameters and trailing white space. */
function normalize(value: unknown): unknown {
  if (typeof value === 'string') return value.trimEnd()
  if (Array.isArray(value)) {
    const parts = value.map(normalize)
    const keyOf = (part: unknown) => String((part as Parameter | null)?.key ?? '')
    return parts.some(keyOf) ? parts.filter(hasValue).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) : parts
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, normalize(inner)]))
}

const hasValue = (part: unknown) => (part as Parameter).value !== ''

/** Report key for the tag's name. */
const NAME_KEY = 'name'

/** Keys that every report uses, and the key that excludes a tag from reports. */
export const RESERVED_REPORT_KEYS = ['id', NAME_KEY, 'status', 'executionTime', 'exclude']

const entryOf = (name: string): Parameter => text(name, variable(name))

/** True for an entry in the form that Tagwarden creates: a variable under its own name. */
const isOwnEntry = ({ key = '', value }: Parameter) => value === variable(key)

/**
 * Returns the tag with metadata that adds its name and the given variables to its reports. Null if the metadata is
 * already set. Entries that users added are preserved. Entries for variables that are no longer selected are removed.
 */
export function withReportMetadata(tag: Tag, variables: readonly string[]): Tag | null {
  const present = tag.monitoringMetadata?.map ?? []
  const isSelected = ({ key = '' }: Parameter) => variables.includes(key)
  const retained = present
    .filter((entry) => isSelected(entry) || !isOwnEntry(entry))
    .map((entry) => (isSelected(entry) && !isOwnEntry(entry) ? entryOf(entry.key ?? '') : entry))
  const added = variables.filter((name) => !retained.some(({ key }) => key === name)).map(entryOf)
  const map = [...retained, ...added]
  const isUnchanged = tag.monitoringMetadataTagNameKey === NAME_KEY && Bun.deepEquals(map, present)
  if (isUnchanged) return null
  const hasMetadata = map.length > 0 || present.length > 0
  return {
    ...tag,
    monitoringMetadataTagNameKey: NAME_KEY,
    ...(hasMetadata ? { monitoringMetadata: { ...tag.monitoringMetadata, type: 'map', map } } : {}),
  }
}
