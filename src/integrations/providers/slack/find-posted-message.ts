import { MINUTE_MS, SECOND_MS } from '../../../core/clock.ts'
import { readMethod, type SlackAnswer, type SlackApiContext } from './slack-api.ts'
import type { MessageRef, UncertainPost } from './slack-context.ts'
import { Refused } from './slack-errors.ts'

const EVENT_TYPE = 'tagwarden'

/** Metadata stored with a Slack message. It identifies the message's deliveries and issues. */
export function metadataOf(members: readonly { deliveryId: string; issueId: string | null }[]) {
  const ids = (list: readonly string[]) => list.slice(0, MAX_IDS).join(',')
  return {
    event_type: EVENT_TYPE,
    event_payload: {
      deliveryIds: ids(members.map(({ deliveryId }) => deliveryId)),
      issueIds: ids(members.flatMap(({ issueId }) => issueId ?? [])),
    },
  }
}

/** Maximum number of ids, which keeps the metadata below Slack's limit of 16 KB. */
const MAX_IDS = 200

/** Tolerated clock difference between Slack and this server. */
const CLOCK_TOLERANCE_MS = 5 * MINUTE_MS
const PAGE_SIZE = 200
const MAX_PAGES = 5

/** Errors returned if the app can't read the channel. */
const UNREADABLE = [
  'missing_scope',
  'not_in_channel',
  'channel_not_found',
  'no_permission',
  'not_allowed_token_type',
  'access_denied',
  'thread_not_found',
  'method_not_supported_for_channel_type',
  'unknown_method',
]

/** A message posted by Tagwarden. */
interface PostedMessage {
  ref: MessageRef
  /** Ids of the first 200 deliveries in the message. */
  deliveryIds: readonly string[]
}

/**
 * Searches for a message after its response was lost. Returns null if the message was not posted or the app can't read
 * the channel. Fails as `readMethod` does on any other error.
 */
export async function findPosted(context: SlackApiContext, posting: UncertainPost): Promise<PostedMessage | null> {
  const { channel, thread, since, key } = posting
  const method = thread === null ? 'conversations.history' : 'conversations.replies'
  const oldest = String((since - CLOCK_TOLERANCE_MS) / SECOND_MS)
  const limit = String(PAGE_SIZE)
  const args = { channel, oldest, limit, include_all_metadata: 'true', ...(thread === null ? {} : { ts: thread }) }
  try {
    let cursor = ''
    for (let pages = 0; pages < MAX_PAGES; pages++) {
      const answer = await readMethod(context, method, { ...args, ...(cursor ? { cursor } : {}) })
      const message = messagesIn(answer).find((one) => deliveryIdsOf(one).includes(key))
      if (typeof message?.ts === 'string') {
        return { ref: { channel, ts: message.ts }, deliveryIds: deliveryIdsOf(message) }
      }
      cursor = cursorOf(answer)
      if (cursor === '') return null
    }
    return null
  } catch (error) {
    if (error instanceof Refused && UNREADABLE.includes(error.code)) return null
    throw error
  }
}

interface FoundMessage {
  ts?: unknown
  metadata?: { event_type?: unknown; event_payload?: { deliveryIds?: unknown } }
}

const messagesIn = ({ messages }: SlackAnswer) => (Array.isArray(messages) ? (messages as FoundMessage[]) : [])

function deliveryIdsOf({ metadata }: FoundMessage): string[] {
  const ids = metadata?.event_type === EVENT_TYPE ? metadata.event_payload?.deliveryIds : null
  return typeof ids === 'string' ? ids.split(',') : []
}

function cursorOf({ response_metadata: more }: SlackAnswer): string {
  const cursor = (more as { next_cursor?: unknown } | undefined)?.next_cursor
  return typeof cursor === 'string' ? cursor : ''
}
