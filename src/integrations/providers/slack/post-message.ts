import { type Instant, SECOND_MS } from '../../../core/clock.ts'
import { Yielder } from '../../../core/yielding.ts'
import type { Message } from '../../message/message.ts'
import { DELIVERED, type Outcome, Unusable } from '../../outcome.ts'
import type { GroupMember, StatusChange } from '../provider-context.ts'
import { findPosted, metadataOf } from './find-posted-message.ts'
import type { ButtonTarget } from './message-buttons.ts'
import { type Rendered, renderGroup, renderOne } from './render-message.ts'
import { callMethod, type SlackAnswer } from './slack-api.ts'
import { apiUrl } from './slack-config.ts'
import type { SlackContext, SlackDelivery, SlackIssue } from './slack-context.ts'
import { EMPTY_MEMORY, type MessageRef, type SlackMemory } from './slack-context.ts'
import { isUncertain, meaningOf, outcomeOfRefusal, outcomeOfWebhook, Refused } from './slack-errors.ts'

/** One issue of a message; a test has none. */
type Member = Omit<GroupMember<SlackMemory>, 'issueId'> & { readonly issueId: string | null }

/** Tells of one issue. */
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

/** Tells of several openings in one message; of one as of any. */
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
  const waitMs = reserveSlot(url, context.now())
  if (waitMs > 0) return { verdict: 'wait', waitMs }
  const answer = await context.call({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', 'user-agent': 'Tagwarden' },
    body: JSON.stringify(rendered(context, members, false)),
  })
  return outcomeOfWebhook(answer, context.now())
}

/** As an opening it shows how its issues stand, and has buttons where presses are heard of. */
function rendered(context: SlackContext, members: readonly Member[], isOpening: boolean): Rendered {
  const [first] = members
  if (!first) throw new Error('a message is about something')
  if (members.length > 1) {
    const named = members.map((member) => ({
      status: 'open' as const,
      // Read when it is named: there may be very many.
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

/** Null where nobody hears of presses. */
export function buttonTargetFor(
  { settings, integrationId }: SlackContext,
  issueId: string | null,
): ButtonTarget | null {
  return settings.appToken !== undefined && integrationId !== null ? { integrationId, issueId } : null
}

/** The present channel. Fails with `Unusable` while none is chosen. */
function channelOf({ state }: SlackContext): string {
  if (state) return state.channelId
  throw new Unusable('incomplete', 'a channel has to be chosen first')
}

async function postAsBot(context: SlackContext, members: readonly Member[]): Promise<Outcome> {
  const channel = channelOf(context)
  const missing = await notPosted(context, members)
  const [first] = missing
  if (!first) return DELIVERED
  const waitMs = reserveSlot(`${apiUrl(context.operator)} ${channel}`, context.now())
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

/** True when nothing can be posted behind a message any more: it was deleted, or its channel is another one than now and closed. */
function isGone({ code }: Refused, opening: MessageRef, channel: string): boolean {
  return GONE.includes(code) || (opening.channel !== channel && CLOSED.includes(code))
}

const GONE = ['thread_not_found', 'message_not_found', 'cannot_reply_to_message', 'restricted_action_thread_locked']
const CLOSED = ['channel_not_found', 'is_archived', 'not_in_channel', 'restricted_action_read_only_channel']

/** Those that were not posted, as far as is remembered, and as Slack itself says where an answer was lost. */
async function notPosted(context: SlackContext, members: readonly Member[]): Promise<Member[]> {
  const missing: Member[] = []
  await slowly(members, (member) => {
    if (member.isReplay || member.memory?.postedId !== member.deliveryId) missing.push(member)
  })
  const lost = missing.slice(0, MARKED).find(({ deliveryId, memory }) => memory?.posting?.deliveryId === deliveryId)
  const posting = lost?.memory?.posting
  const found = posting ? await findPosted(context, posting) : null
  if (!posting || !found) return missing
  const isAll = posting.count === missing.length
  const others: Member[] = []
  await slowly(missing, async (member) => {
    if (!isAll && !found.deliveryIds.includes(member.deliveryId)) others.push(member)
    else await keep(member, posting.thread === null && opens(missing) ? found.place : null)
  })
  return others
}

/** Of very many issues the first are marked, by which their message is found again. */
const MARKED = 20

/** One after the other, and others have their turn between. */
async function slowly(members: readonly Member[], work: (member: Member) => unknown): Promise<void> {
  const yielder = new Yielder()
  for (const member of members) {
    await work(member)
    if (yielder.isDue) await yielder.yieldNow()
  }
}

/** Remembers that it was posted. `opening`: the message that opens it from now on; null: that stays. */
function keep(member: Member, opening: MessageRef | null): Promise<void> {
  const before = member.memory ?? EMPTY_MEMORY
  return member.remember({
    ...before,
    opening: opening ?? before.opening,
    posting: null,
    postedId: member.deliveryId,
  })
}

/** False for what is about the issue, and is not its beginning here. */
const opens = (members: readonly Member[]) => members.length > 1 || members[0]?.message.kind !== 'delivery_failed'

interface Where {
  channel: string
  /** Null: it stands alone. */
  thread: string | null
}

/** Posts, and keeps where: each step is remembered before the next. */
async function post(context: SlackContext, members: readonly Member[], { channel, thread }: Where): Promise<void> {
  const key = members[0]?.deliveryId ?? ''
  const since = context.now()
  const mark = (member: Member, isPosting: boolean) => {
    const posting = { deliveryId: member.deliveryId, key, channel, thread, since, count: members.length }
    return member.remember({ ...(member.memory ?? EMPTY_MEMORY), posting: isPosting ? posting : null })
  }
  const marked = members.slice(0, MARKED)
  for (const member of marked) await mark(member, true)
  try {
    const answer = await send(context, members, { channel, thread })
    const place: MessageRef = { channel: textOr(answer.channel, channel), ts: textOr(answer.ts, '') }
    await slowly(members, (member) => keep(member, thread === null && opens(members) ? place : null))
  } catch (error) {
    // What Slack refused is not there.
    const isSure = error instanceof Refused && !isUncertain(error.code)
    if (isSure) for (const member of marked) await mark(member, false)
    throw error
  }
}

const textOr = (value: unknown, other: string) => (typeof value === 'string' ? value : other)

async function send(
  context: SlackContext,
  members: readonly Member[],
  { channel, thread }: Where,
): Promise<SlackAnswer> {
  const { text, blocks } = rendered(context, members, thread === null && opens(members))
  const always = {
    ...{ channel, text, unfurl_links: false, unfurl_media: false },
    ...(thread === null ? {} : { thread_ts: thread, reply_broadcast: members[0]?.message.kind === 'reopened' }),
  }
  const metadata = metadataOf(members)
  const say = (message: object) => callMethod(context, 'chat.postMessage', message)
  try {
    return await say({ ...always, blocks, metadata })
  } catch (error) {
    // A message without its looks says the same: better than none.
    if (error instanceof Refused && BLOCKS.test(error.code)) return say({ ...always, metadata })
    if (error instanceof Refused && METADATA.test(error.code)) return say({ ...always, blocks })
    throw error
  }
}

/** What Slack says of a message whose blocks or metadata it does not take. */
const BLOCKS = /^(?:msg_blocks_too_long|invalid_blocks(?:_format)?)$/
const METADATA = /^(?:metadata_too_large|invalid_metadata_(?:format|schema)|metadata_must_be_sent_from_app)$/

/** Slack takes one message a second in a channel: https://docs.slack.dev/apis/web-api/rate-limits */
const INTERVAL_MS = SECOND_MS
/** Channels of which it is remembered; the others were posted to long ago. */
const REMEMBERED = 10_000

const lastAt = new Map<string, Instant>()

/**
 * Takes the next turn of a channel, or says how long it is until then, in ms. After a start nothing is known: then Slack itself
 * says when it is too much.
 */
function reserveSlot(channel: string, now: Instant): number {
  const last = lastAt.get(channel)
  // A time to come is from before the clock was put back.
  const waitMs = last === undefined || last > now ? 0 : last + INTERVAL_MS - now
  if (waitMs > 0) return waitMs
  lastAt.delete(channel)
  lastAt.set(channel, now)
  const [oldest] = lastAt.size > REMEMBERED ? lastAt.keys() : []
  if (oldest !== undefined) lastAt.delete(oldest)
  return 0
}

/** Shows in the opening how its issues stand now. Its answers stay as they are: they say what was. */
export async function updateOpening(context: SlackIssue, change: StatusChange): Promise<Outcome> {
  const opening = context.memory?.opening
  if (!opening || context.settings.webhookUrl !== undefined) return DELIVERED
  const { channel, ts } = opening
  try {
    await callMethod(context, 'chat.update', { channel, ts, ...renderedNow(context, change) })
    return DELIVERED
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    // Many issues may change together, and Slack takes some fifty edits a minute: that is nobody's failure.
    if (TOO_MANY.includes(error.code)) return { verdict: 'wait', waitMs: error.retryAfterMs ?? DEFAULT_WAIT_MS }
    const isElsewhere = channel !== context.state?.channelId && meaningOf(error.code) === 'channel'
    return NOT_THERE.includes(error.code) || isElsewhere ? DELIVERED : outcomeOfRefusal(error)
  }
}

function renderedNow(context: SlackIssue, { status, by, message, groupedIssues: together }: StatusChange): Rendered {
  if (together.length > 1) return renderGroup(together, buttonTargetFor(context, null))
  // A reopening was told in the thread: the opening itself stays the first one's.
  const opened = message.kind === 'reopened' ? { ...message, kind: 'opened' as const } : message
  return renderOne(opened, { status, by }, buttonTargetFor(context, message.issue?.id ?? null))
}

const TOO_MANY = ['ratelimited', 'rate_limited']
const DEFAULT_WAIT_MS = 10 * SECOND_MS

/** The message was deleted, or can't be edited any more: there is nothing that could be shown. */
const NOT_THERE = ['message_not_found', 'cant_update_message', 'edit_window_closed', 'is_inactive', 'thread_not_found']
