import type { DecodedEvent, Decoder } from './decoder.ts'
import { isJson, unfolded } from './json.ts'
import { objectOf, objectsOf, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/**
 * Start of an envelope sent to a customer's own path (`tunnel`): a header with the URL of the project, and then a line
 * with the header of an item. The first line alone is not sufficient, because it could belong to settings that a site
 * saves.
 */
const ADDRESS = /^\{.{0,2000}"dsn":"https?:\/\/\w+(?::\w+)?@[\w.:-]+\/(?:[^"\n]*\/)?\d+".{0,2000}\}\r?\n\{/
/** Maximum number of characters in which a header is searched; longer than any envelope header. */
const MAX_HEADER = 4100

/** The account is the project. */
export const sentry: Decoder = {
  vendor: 'Sentry',
  source: 'https://develop.sentry.dev/sdk/data-model/envelopes/',
  hosts: ['sentry.io', 'sentry-cdn.com'],
  routes: [
    { path: /^\/api\/(?<account>\d+)\/envelope\/?$/, read: readEnvelope },
    { path: /^\/api\/(?<account>\d+)\/store\/?$/, read: readEvent },
    // Reports that the browser sends itself, and crash dumps.
    sideChannel(/^\/api\/(?:\d+\/|embed\/)/),
    scriptLoad(/\.js$/),
    // Requests to a self-hosted installation, or through a tunnel.
    {
      path: /^\/api\/(?<account>\d+)\/envelope\/?$/,
      anyHost: true,
      mark: /[?&]sentry_key=|\n\{.{0,2000}"dsn":"http/,
      when: isEnvelope,
      read: readEnvelope,
    },
    {
      path: /^/,
      anyHost: true,
      mark: new RegExp(`^.*\\n${ADDRESS.source.slice(1)}`),
      when: ({ body }) => isTunnelled(body),
      read: readEnvelope,
    },
  ],
}

function isEnvelope({ search, body }: VendorRequest): boolean {
  return search.includes('sentry_key=') || isTunnelled(body)
}

function isTunnelled(body: string | null): boolean {
  return body?.startsWith('{') === true && ADDRESS.test(body.slice(0, MAX_HEADER))
}

const projectIn = (path: string) => /^\/api\/(\d+)\//.exec(path)?.[1]

/**
 * A header, followed by items. Each item consists of a header line, which contains its type and often its length, and a
 * payload. Each item is an event named after its type: `event` (an error or message), `transaction`, `session`, `log`,
 * `replay_event`, …
 */
function* readEnvelope({ path, body }: VendorRequest): Iterable<DecodedEvent> {
  const bytes = Buffer.from(body ?? '')
  let at = endOfLine(bytes, 0)
  const { dsn, event_id, sent_at, sdk } = objectOf(unfolded(bytes.toString('utf8', 0, at)))
  const account = scalarOrNull(projectIn(path) ?? /\/(\d+)$/.exec(scalarText(dsn))?.[1])
  while (++at < bytes.length) {
    const start = endOfLine(bytes, at) + 1
    const { type, length } = objectOf(unfolded(bytes.toString('utf8', at, start - 1)))
    at = start - 1
    // The line is not an item header. It belongs to a payload that is not text.
    if (typeof type !== 'string') continue
    at = typeof length === 'number' && length >= 0 ? start + length : endOfLine(bytes, start)
    yield { event: type, account, params: { event_id, sent_at, sdk, ...summaryOf(bytes.toString('utf8', start, at)) } }
  }
}

function endOfLine(bytes: Buffer, from: number): number {
  const end = bytes.indexOf(10, from)
  return end === -1 ? bytes.length : end
}

/** A single event in JSON, as sent by older versions. */
function* readEvent({ path, body }: VendorRequest): Iterable<DecodedEvent> {
  if (isJson(body)) yield { event: 'event', account: scalarOrNull(projectIn(path)), params: summaryOf(body) }
}

/**
 * Returns the payload without data that is useful only for debugging: stack traces, breadcrumbs, spans and lists of
 * modules.
 */
function summaryOf(payload: string): Record<string, unknown> {
  const value = unfolded(payload)
  const { breadcrumbs, spans, modules, debug_meta, threads, exception, ...rest } = objectOf(value)
  const exceptions = objectsOf(objectOf(exception).values).map(({ type, value, mechanism }) => ({
    type,
    value,
    mechanism,
  }))
  return exceptions.length > 0 ? { ...rest, exception: { values: exceptions } } : rest
}
