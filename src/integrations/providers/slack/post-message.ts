import { SECOND_MS } from '../../../core/clock.ts'
import { Yielder } from '../../../core/yield-to-event-loop.ts'
import { DELIVERED, type Outcome, Unusable } from '../../delivery-outcome.ts'
import type { Message } from '../../message/message.ts'
import { reserveSlot } from '../posting-slots.ts'
import type { GroupMember, StatusChange } from '../provider-context.ts'
import { findPosted, metadataOf } from './find-posted-message.ts'
import type { ButtonTarget } from './message-buttons.ts'
import { type Rendered, renderGroup, renderOne } from './render-message.ts'
import { callMethod, type SlackAnswer } from './slack-api.ts'
import { apiUrl } from './slack-config.ts'
import type { SlackContext, SlackDelivery, SlackIssue } from './slack-context.ts'
import { EMPTY_MEMORY, type MessageRef, type SlackMemory } from './slack-context.ts'
import { isUncertain, meaningOf, outcomeOfRefusal, outcomeOfWebhook, Refused } from './slack-errors.ts'

/** A message's member, which represents one issue. A test message has a member without an issue. */
type Member = Omit<GroupMember<SlackMemory>, 'issueId'> & { readonly issueId: string | null }

/** Posts a message about one issue. */
export function deliverMessage(context: SlackDelivery, message: Message): Promise<Outcome> {
  const { deliveryId, isReplay } = context
  return deliverGroupMessage(context, [
    {
      deliveryId,
      issueId: message.issue?.id ?? null,
      isReplay,
      message,
      get memory() {
        return context.memory
      },
      remember: (memory) => context.remember(memory),
    },
  ])
}

/** Posts one message about one or more issues. */
export async function deliverGroupMessage(context: SlackContext, members: readonly Member[]): Promise<Outcome> {
  const { webhookUrl } = context.settings
  if (webhookUrl !== undefined) return postToWebhook(context, webhookUrl, members)
  try {
    return await postAsBot(context, members)
  } catch (error) {
    if (error instanceof Refused) return outcomeOfRefusal(error)
    throw error
  }
}

async function postToWebhook(context: SlackContext, url: string, members: readonly Member[]): Promise<Outcome> {
  const waitMs = reserveSlot(url, context.now(), POST_INTERVAL_MS)
  if (waitMs > 0) return { verdict: 'wait', waitMs }
  const answer = await context.call({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', 'user-agent': 'Tagwarden' },
    body: JSON.stringify(render(context, members, false)),
  })
  return outcomeOfWebhook(answer, context.now())
}

/** Renders the message. An opening shows the status of its issue, and buttons if the app can receive button presses. */
function render(context: SlackContext, members: readonly Member[], isOpening: boolean): Rendered {
  const [first] = members
  if (!first) throw new Error('a message must have at least one member')
  if (members.length > 1) {
    const named = members.map((member) => ({
      status: 'open' as const,
      // Loaded on demand: only the listed members are rendered, and there can be thousands of members.
      get message() {
        return member.message
      },
    }))
    return renderGroup(named, buttonTargetFor(context, null))
  }
  const { message, issueId } = first
  const status = isOpening && message.issue ? message.issue.status : null
  return renderOne(message, status && { status, by: null }, buttonTargetFor(context, issueId))
}

/** Target of the message's buttons. Null if the app can't receive button presses. */
function buttonTargetFor({ settings, integrationId }: SlackContext, issueId: string | null): ButtonTarget | null {
  return settings.appToken !== undefined && integrationId !== null ? { integrationId, issueId } : null
}

/** The chosen channel. Fails with `Unusable` if there is none. */
function channelOf({ state }: SlackContext): string {
  if (state) return state.channelId
  throw new Unusable('incomplete', 'choose a channel first')
}

async function postAsBot(context: SlackContext, members: readonly Member[]): Promise<Outcome> {
  const channel = channelOf(context)
  const missing = await findUnposted(context, members)
  const [first] = missing
  if (!first) return DELIVERED
  const waitMs = reserveSlot(`${apiUrl(context.operator)} ${channel}`, context.now(), POST_INTERVAL_MS)
  if (waitMs > 0) return { verdict: 'wait', waitMs }
  const opening = missing.length === 1 && first.message.kind !== 'opened' ? (first.memory?.opening ?? null) : null
  try {
    await post(context, missing, { channel: opening?.channel ?? channel, thread: opening?.ts ?? null })
  } catch (error) {
    if (!(error instanceof Refused) || !opening || !isGone(error, opening, channel)) throw error
    await post(context, missing, { channel, thread: null })
  }
  return DELIVERED
}

/**
 * True if a thread can't be continued because its message was deleted, or because it is in a former channel that is
 * closed.
 */
function isGone({ code }: Refused, opening: MessageRef, channel: string): boolean {
  return GONE.includes(code) || (opening.channel !== channel && CLOSED.includes(code))
}

const GONE = ['thread_not_found', 'message_not_found', 'cannot_reply_to_message', 'restricted_action_thread_locked']
const CLOSED = ['channel_not_found', 'is_archived', 'not_in_channel', 'restricted_action_read_only_channel']

/** Returns the members that were not posted yet. If a response was lost, asks Slack whether the message exists. */
async function findUnposted(context: SlackContext, members: readonly Member[]): Promise<Member[]> {
  const missing: Member[] = []
  await forEachYielding(members, (member) => {
    if (member.isReplay || member.memory?.postedId !== member.deliveryId) missing.push(member)
  })
  const lost = missing.slice(0, MAX_MARKED).find(({ deliveryId, memory }) => memory?.posting?.deliveryId === deliveryId)
  const posting = lost?.memory?.posting
  const found = posting ? await findPosted(context, posting) : null
  if (!posting || !found) return missing
  const isAll = posting.count === missing.length
  const others: Member[] = []
  await forEachYielding(missing, async (member) => {
    if (!isAll && !found.deliveryIds.includes(member.deliveryId)) others.push(member)
    else await markPosted(member, posting.thread === null && becomesOpening(missing) ? found.ref : null)
  })
  return others
}

/** Number of members for which a started post is saved. This is sufficient to find the message again. */
const MAX_MARKED = 20

/** Runs `work` for each member in sequence and yields to the event loop regularly. */
async function forEachYielding(members: readonly Member[], work: (member: Member) => unknown): Promise<void> {
  const yielder = new Yielder()
  for (const member of members) {
    await work(member)
    if (yielder.isDue) await yielder.yieldNow()
  }
}

/** Records that a member was posted. A null `opening` leaves the current opening unchanged. */
function markPosted(member: Member, opening: MessageRef | null): Promise<void> {
  const before = member.memory ?? EMPTY_MEMORY
  return member.remember({
    ...before,
    opening: opening ?? before.opening,
    posting: null,
    postedId: member.deliveryId,
  })
}

/** True if the message becomes the opening message of its issues. */
const becomesOpening = (members: readonly Member[]) =>
  members.length > 1 || members[0]?.message.kind !== 'delivery_failed'

interface Destination {
  channel: string
  /** Null if the message is not in a thread. */
  thread: string | null
}

/** Posts a message. Each step is saved before the next begins, so that a crash can't cause a duplicate message. */
async function post(
  context: SlackContext,
  members: readonly Member[],
  { channel, thread }: Destination,
): Promise<void> {
  const key = members[0]?.deliveryId ?? ''
  const since = context.now()
  const mark = (member: Member, isPosting: boolean) => {
    const posting = { deliveryId: member.deliveryId, key, channel, thread, since, count: members.length }
    return member.remember({ ...(member.memory ?? EMPTY_MEMORY), posting: isPosting ? posting : null })
  }
  const marked = members.slice(0, MAX_MARKED)
  for (const member of marked) await mark(member, true)
  try {
    const answer = await send(context, members, { channel, thread })
    const ref: MessageRef = { channel: textOr(answer.channel, channel), ts: textOr(answer.ts, '') }
    await forEachYielding(members, (member) =>
      markPosted(member, thread === null && becomesOpening(members) ? ref : null),
    )
  } catch (error) {
    // A definite rejection means that nothing was posted.
    const isSure = error instanceof Refused && !isUncertain(error.code)
    if (isSure) for (const member of marked) await mark(member, false)
    throw error
  }
}

const textOr = (value: unknown, other: string) => (typeof value === 'string' ? value : other)

async function send(
  context: SlackContext,
  members: readonly Member[],
  { channel, thread }: Destination,
): Promise<SlackAnswer> {
  const { text, blocks } = render(context, members, thread === null && becomesOpening(members))
  const base = {
    channel,
    text,
    unfurl_links: false,
    unfurl_media: false,
    ...(thread === null ? {} : { thread_ts: thread, reply_broadcast: isBroadcast(members[0]?.message) }),
  }
  const metadata = metadataOf(members)
  const postMessage = (message: object) => callMethod(context, 'chat.postMessage', message)
  try {
    return await postMessage({ ...base, blocks, metadata })
  } catch (error) {
    // The plain text contains the same information, and a message without blocks is better than none.
    if (error instanceof Refused && BLOCKS.test(error.code)) return postMessage({ ...base, metadata })
    if (error instanceof Refused && METADATA.test(error.code)) return postMessage({ ...base, blocks })
    throw error
  }
}

/** True for replies that also appear in the channel, because they require attention. */
const isBroadcast = (message: Message | undefined) => message?.kind === 'reopened' || message?.escalation !== undefined

/** Error codes for blocks or metadata that Slack does not accept. */
const BLOCKS = /^(?:msg_blocks_too_long|invalid_blocks(?:_format)?)$/
const METADATA = /^(?:metadata_too_large|invalid_metadata_(?:format|schema)|metadata_must_be_sent_from_app)$/

/** Slack accepts one message per second in each channel: https://docs.slack.dev/apis/web-api/rate-limits */
const POST_INTERVAL_MS = SECOND_MS
/** Updates the opening message to the current status of its issues. Messages in its thread are unchanged. */
export async function updateOpening(context: SlackIssue, change: StatusChange): Promise<Outcome> {
  const opening = context.memory?.opening
  if (!opening || context.settings.webhookUrl !== undefined) return DELIVERED
  const { channel, ts } = opening
  try {
    await callMethod(context, 'chat.update', { channel, ts, ...renderOpening(context, change) })
    return DELIVERED
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    // Slack accepts about 50 edits a minute. Exceeding this limit does not count as a failure of the integration.
    if (RATE_LIMITED.includes(error.code)) return { verdict: 'wait', waitMs: error.retryAfterMs ?? DEFAULT_WAIT_MS }
    const isFormerChannel = channel !== context.state?.channelId && meaningOf(error.code) === 'channel'
    return NOT_EDITABLE.includes(error.code) || isFormerChannel ? DELIVERED : outcomeOfRefusal(error)
  }
}

function renderOpening(context: SlackIssue, { status, by, message, groupedIssues }: StatusChange): Rendered {
  if (groupedIssues.length > 1) return renderGroup(groupedIssues, buttonTargetFor(context, null))
  // The reopening was posted in the thread, so the opening message retains its original headline.
  const opened = message.kind === 'reopened' ? { ...message, kind: 'opened' as const } : message
  return renderOne(opened, { status, by }, buttonTargetFor(context, message.issue?.id ?? null))
}

const RATE_LIMITED = ['ratelimited', 'rate_limited']
const DEFAULT_WAIT_MS = 10 * SECOND_MS

/** Errors returned if the message was deleted or can't be edited. */
const NOT_EDITABLE = [
  'message_not_found',
  'cant_update_message',
  'edit_window_closed',
  'is_inactive',
  'thread_not_found',
]
