import { SECOND_MS } from '../../../core/clock.ts'
import { AppError } from '../../../core/error.ts'
import { jsonObject } from '../../../core/json.ts'
import type { WebSocketLine } from '../../transport/transport.ts'
import { handlePress } from './button-press.ts'
import { callMethod } from './slack-api.ts'
import type { SlackListening } from './slack-context.ts'
import { Refused, unusable } from './slack-errors.ts'

/** Slack refreshes connections once in some hours; some that are refreshed sooner, one after the other, are a failure. */
const SHORTEST_LIFE_MS = 10 * SECOND_MS
const MOST_SHORT = 3
/** Presses that are carried out at one time. */
const AT_ONCE = 8

interface Envelope {
  type?: unknown
  reason?: unknown
  envelope_id?: unknown
  payload?: unknown
}

/**
 * Keeps Slack's connection open: presses of buttons come through it, so Slack needs no way in. When Slack asks for a new one, that
 * is opened before the old one is closed, so that nothing falls between them. Ends by failing, or when it is aborted.
 * Source: https://docs.slack.dev/apis/events-api/using-socket-mode
 */
export async function listen(context: SlackListening): Promise<void> {
  let old: WebSocketLine | null = null
  const underWay = new Set<Promise<void>>()
  try {
    for (let short = 0; short < MOST_SHORT; ) {
      const line = await openLine(context)
      old?.close()
      old = line
      const openedAt = context.now()
      await refreshAsked(context, line, underWay)
      short = context.now() - openedAt < SHORTEST_LIFE_MS ? short + 1 : 0
    }
    throw new AppError('unavailable', 'Slack asks for new connections again and again')
  } finally {
    old?.close()
    await Promise.all(underWay)
  }
}

async function openLine(context: SlackListening): Promise<WebSocketLine> {
  try {
    const { url } = await callMethod(context, 'apps.connections.open', {}, context.settings.appToken)
    if (typeof url !== 'string' || !/^wss?:\/\//.test(url)) throw new AppError('upstream', 'Slack named no connection')
    return await context.openSocket(url)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    throw unusable(error) ?? new AppError('upstream', error.message)
  }
}

/**
 * Takes in what comes, and resolves when Slack asks for a new connection; what still comes through this one is taken in until
 * it ends. Fails when it ends before.
 */
function refreshAsked(context: SlackListening, line: WebSocketLine, underWay: Set<Promise<void>>): Promise<void> {
  return new Promise((resolve, reject) => {
    const taken = async () => {
      for await (const text of line) {
        const asked = await take(context, line, { text, underWay })
        if (asked) resolve()
      }
      throw new AppError('upstream', 'Slack closed the connection')
    }
    taken().catch(reject)
  })
}

/** True when Slack asks for a new connection. */
async function take(
  context: SlackListening,
  line: WebSocketLine,
  { text, underWay }: { text: string; underWay: Set<Promise<void>> },
): Promise<boolean> {
  const envelope: Envelope = jsonObject(text) ?? {}
  if (envelope.type !== 'disconnect') context.opened()
  else {
    if (envelope.reason === 'link_disabled') throw new AppError('upstream', 'Socket Mode is switched off for the app')
    return true
  }
  // Within three seconds, whatever becomes of it: else Slack shows a failure, and sends it again.
  if (typeof envelope.envelope_id === 'string') line.send(JSON.stringify({ envelope_id: envelope.envelope_id }))
  if (envelope.type !== 'interactive') return false
  while (underWay.size >= AT_ONCE) await Promise.race(underWay)
  const work = handlePress(context, envelope.payload)
    .catch((error: unknown) => context.report(error))
    .finally(() => underWay.delete(work))
  underWay.add(work)
  return false
}
