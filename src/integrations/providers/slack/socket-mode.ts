import { SECOND_MS } from '../../../core/clock.ts'
import { AppError } from '../../../core/error.ts'
import { jsonObject } from '../../../core/parse-json-object.ts'
import type { WebSocketLine } from '../../../transport/transport.ts'
import { handlePress } from './button-press.ts'
import { callMethod } from './slack-api.ts'
import type { SlackListening } from './slack-context.ts'
import { Refused, unusable } from './slack-errors.ts'

/**
 * Minimum lifetime of a connection. Slack refreshes connections every few hours. Several consecutive connections that
 * are shorter than this count as a failure.
 */
const MIN_LIFETIME_MS = 10 * SECOND_MS
const MAX_SHORT_LIVED = 3
/** Maximum number of button presses handled concurrently. */
const MAX_CONCURRENT = 8

interface Envelope {
  type?: unknown
  reason?: unknown
  envelope_id?: unknown
  payload?: unknown
}

/**
 * Receives button presses through an outbound Socket Mode connection, so that Slack needs no inbound access. When Slack
 * requests a refresh, the new connection is opened before the old one is closed, so no event is lost. Fails when the
 * connection ends or is aborted.
 * Source: https://docs.slack.dev/apis/events-api/using-socket-mode
 */
export async function listen(context: SlackListening): Promise<void> {
  let previous: WebSocketLine | null = null
  const running = new Set<Promise<void>>()
  try {
    for (let short = 0; short < MAX_SHORT_LIVED; ) {
      const connection = await openConnection(context)
      previous?.close()
      previous = connection
      const openedAt = context.now()
      await serveUntilRefresh(context, connection, running)
      short = context.now() - openedAt < MIN_LIFETIME_MS ? short + 1 : 0
    }
    throw new AppError('unavailable', 'Slack keeps requesting new connections')
  } finally {
    previous?.close()
    await Promise.all(running)
  }
}

async function openConnection(context: SlackListening): Promise<WebSocketLine> {
  try {
    const { url } = await callMethod(context, 'apps.connections.open', {}, context.settings.appToken)
    if (typeof url !== 'string' || !/^wss?:\/\//.test(url))
      throw new AppError('upstream', 'Slack returned no connection URL')
    return await context.openSocket(url)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    throw unusable(error) ?? new AppError('upstream', error.message)
  }
}

/**
 * Handles envelopes, and resolves when Slack requests a refresh. After that, envelopes that still arrive on this
 * connection are handled until it ends. Fails if the connection ends before a refresh is requested.
 */
function serveUntilRefresh(
  context: SlackListening,
  connection: WebSocketLine,
  running: Set<Promise<void>>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const serve = async () => {
      for await (const text of connection) {
        const isRefresh = await handleEnvelope(context, connection, { text, running })
        if (isRefresh) resolve()
      }
      throw new AppError('upstream', 'Slack closed the connection')
    }
    serve().catch(reject)
  })
}

/** Handles one envelope. Returns true if Slack requests a new connection. */
async function handleEnvelope(
  context: SlackListening,
  connection: WebSocketLine,
  { text, running }: { text: string; running: Set<Promise<void>> },
): Promise<boolean> {
  const envelope: Envelope = jsonObject(text) ?? {}
  if (envelope.type !== 'disconnect') context.opened()
  else {
    if (envelope.reason === 'link_disabled') throw new AppError('upstream', 'Socket Mode is disabled for the app')
    return true
  }
  // Acknowledge within three seconds, regardless of the result. Otherwise, Slack shows an error and resends the
  // envelope.
  if (typeof envelope.envelope_id === 'string') connection.send(JSON.stringify({ envelope_id: envelope.envelope_id }))
  if (envelope.type !== 'interactive') return false
  while (running.size >= MAX_CONCURRENT) await Promise.race(running)
  const work = handlePress(context, envelope.payload)
    .catch((error: unknown) => context.report(error))
    .finally(() => running.delete(work))
  running.add(work)
  return false
}
