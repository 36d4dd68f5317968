import { MINUTE_MS, SECOND_MS } from '../../../core/clock.ts'
import { readMethod, type SlackAnswer, type SlackApiContext } from './slack-api.ts'
import type { MessageRef, UncertainPost } from './slack-context.ts'
import { Refused } from './slack-errors.ts'

const EVENT_TYPE = 'tagwarden'

/** What Slack keeps with a message of ours, and shows to apps: who reads it finds our deliveries and issues again. */
export function metadataOf(members: readonly { deliveryId: string; issueId: string | null }[]) {
  const ids = (list: readonly string[]) => list.slice(0, MOST_IDS).join(',')
  return {
    event_type: EVENT_TYPE,
    event_payload: {
      deliveryIds: ids(members.map(({ deliveryId }) => deliveryId)),
      issueIds: ids(members.flatMap(({ issueId }) => issueId ?? [])),
    },
  }
}

/** Metadata have 16 KB at most. */
const MOST_IDS = 200

/** Clocks differ. */
const EARLIER_MS = 5 * MINUTE_MS
const MESSAGES_A_PAGE = 200
const MOST_PAGES = 5

/** Refusals that say that the app may not read there: then it can't be known. */
const MAY_NOT_READ = [
  ...[
    'missing_scope',
    'not_in_channel',
    'channel_not_found',
    'no_permission',
    'not_allowed_token_type',
    'access_denied',
  ],
  ...['thread_not_found', 'method_not_supported_for_channel_type', 'unknown_method'],
]

/** A message of ours. */
export interface Found {
  place: MessageRef
  /** The first 200 that it is about. */
  deliveryIds: readonly string[]
}

/**
 * Looks if a message whose answer was lost is there all the same. Null: it is not, or the app may not look. Fails as calls do
 * when it may, and could not.
 */
export async function findPosted(context: SlackApiContext, posting: UncertainPost): Promise<Found | null> {
  const { channel, thread, since, key } = posting
  const method = thread === null ? 'conversations.history' : 'conversations.replies'
  const oldest = String((since - EARLIER_MS) / SECOND_MS)
  const limit = String(MESSAGES_A_PAGE)
  const args = { channel, oldest, limit, include_all_metadata: 'true', ...(thread === null ? {} : { ts: thread }) }
  try {
    let cursor = ''
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const answer = await readMethod(context, method, { ...args, ...(cursor ? { cursor } : {}) })
      const message = messagesIn(answer).find((one) => deliveryIdsOf(one).includes(key))
      if (typeof message?.ts === 'string') {
        return { place: { channel, ts: message.ts }, deliveryIds: deliveryIdsOf(message) }
      }
      cursor = cursorOf(answer)
      if (cursor === '') return null
    }
    return null
  } catch (error) {
    if (error instanceof Refused && MAY_NOT_READ.includes(error.code)) return null
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
