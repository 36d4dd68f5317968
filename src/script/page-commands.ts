import type { SessionMode } from '../domains/capture-settings.ts'
import type { Item, TagReport } from './batch.ts'
import type { Frames } from './page-frame.ts'
import type { Session } from './visitor-session.ts'

export interface CommandDeps {
  frames: Frames
  session: Session
  date(): number
  newId(): string
  add(item: Item): void
}

/**
 * A tag manager's report about one tag:
 * https://developers.google.com/tag-platform/tag-manager/templates/api#addeventcallback
 */
interface RanTag {
  id?: unknown
  name?: unknown
  status?: unknown
  executionTime?: unknown
  exclude?: unknown
  /** Additional values that a customer reports with the tag: variables. */
  [key: string]: unknown
}

/** Maximum length of a tag's values. Anything longer adds no information. */
const MAX_VALUE_LENGTH = 500
const MAX_VALUES = 50

const TAG_STATUSES: Record<string, NonNullable<TagReport['status']>> = {
  success: 'ok',
  failure: 'failure',
  exception: 'exception',
  timeout: 'timeout',
}
const MODES: readonly SessionMode[] = ['memory', 'sessionStorage', 'customer']

/** Runs one command of `tagwarden(…)`. Ignores unknown commands. */
export type RunCommand = (command: ArrayLike<unknown>) => void

/**
 * Commands:
 * - `configure`, `{ env, version, customerId, sessionId, sessionMode }`: declares properties of the page.
 * - `consent`, `granted` or `denied`: whether ids may be stored in `sessionStorage`. Nothing is stored before this
 * command.
 * - `container`, id: a tag manager runs on this page.
 * - `tags`, container, event, tags: results of the tags fired for one event.
 */
export function commandRunner(parts: CommandDeps): RunCommand {
  const containers = new Set<string>()
  return (command) => {
    const [name, ...args] = Array.from(command)
    if (name === 'configure') configure(parts, recordOf(args[0]))
    else if (name === 'consent') parts.session.allowStorage(args[0] === 'granted')
    else if (name === 'tags') reportTags(parts, args)
    else if (name === 'container' && typeof args[0] === 'string' && !containers.has(args[0])) {
      containers.add(args[0])
      addNotice(parts, { vendor: 'Google Tag Manager', event: 'container_loaded', account: args[0] })
    }
  }
}

/** Sends an event about this script: that the script itself or a tag manager runs on this page. */
export function addNotice(
  { frames, date, newId, add }: CommandDeps,
  what: { vendor: string; event: string; account?: string },
): void {
  const frame = frames.current()
  if (frame.isSampled) add({ list: 'events', frame, content: { id: newId(), ts: date(), ...what } })
}

function configure({ frames, session }: CommandDeps, declared: Record<string, unknown>): void {
  const { env, version, customerId, sessionId, sessionMode } = declared
  const mode = MODES.find((one) => one === sessionMode)
  if (mode) session.setMode(mode)
  const ownSession = textOf(sessionId)
  if (ownSession) {
    session.setCustomerSession(ownSession)
    // A page that sets a session id expects it to be used.
    if (!mode) session.setMode('customer')
  }
  const number = typeof version === 'string' && version !== '' ? Number(version) : version
  // With a longer id, the collector would reject every batch.
  const customer = textOf(customerId).slice(0, 500)
  frames.tell({
    ...(env === 'dev' || env === 'prod' ? { env } : {}),
    ...(typeof number === 'number' && Number.isFinite(number) ? { version: number } : {}),
    ...(customer ? { customerId: customer } : {}),
  })
}

function reportTags({ frames, date, newId, add }: CommandDeps, [container, event, tags]: unknown[]): void {
  const name = textOf(container)
  if (!name || !Array.isArray(tags)) return
  const frame = frames.current()
  if (!frame.isSampled) return
  for (const tag of tags) {
    const { id, name: tagName, status: ended, executionTime, exclude: _, ...metadata }: RanTag = recordOf(tag)
    const tagId = textOf(id)
    if (!tagId) continue
    const execMs = Number(executionTime)
    const values = Object.entries(metadata).flatMap(([key, value]) => {
      const text = typeof value === 'boolean' ? String(value) : textOf(value)
      return text ? [[key, text.slice(0, MAX_VALUE_LENGTH)]] : []
    })
    const content: TagReport = {
      id: newId(),
      ts: date(),
      container: name,
      tagId,
      name: textOf(tagName),
      event: textOf(event),
      status: TAG_STATUSES[textOf(ended)],
      execMs: execMs >= 0 ? execMs : undefined,
      params: values.length > 0 ? Object.fromEntries(values.slice(0, MAX_VALUES)) : undefined,
    }
    add({ list: 'tags', frame, content })
  }
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** Returns a string or number as a string, because pages pass ids as either; empty for other values. */
function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
