import { type Received, receiver } from '../../src/transport/receiver.fixture.ts'

const REFUSED_SHARE = 0.03
const SLOW_SHARE = 0.25
const SLOW_MS = 300

/**
 * Starts a webhook receiver that is sometimes slow, so that a kill interrupts deliveries, and that rejects some first
 * attempts.
 */
export function flakyReceiver(random: () => number) {
  const seen = new Set<string>()
  return receiver(async ({ headers }) => {
    const id = headers['webhook-id'] ?? ''
    const isNew = !seen.has(id)
    seen.add(id)
    if (isNew && random() < REFUSED_SHARE) return new Response('not now', { status: 503 })
    if (random() < SLOW_SHARE) await Bun.sleep(SLOW_MS)
    return new Response('ok')
  })
}

export interface ReceivedMessage {
  webhookId: string
  /** Issue, message type and event time: the same for every attempt, different for every notification. */
  notice: string
  body: string
}

export function receivedMessageOf({ headers, body }: Received): ReceivedMessage {
  const { type, timestamp, data } = JSON.parse(body)
  return { webhookId: headers['webhook-id'] ?? '', notice: `${data.issue.id} ${type} ${timestamp}`, body }
}
