import { capitalized } from '../../../core/text.ts'
import type { IssueStatus } from '../../../issues/issue.ts'
import { DELIVERED, type Outcome, Unusable } from '../../delivery-outcome.ts'
import { summarizeGroup } from '../../message/grouped-message-text.ts'
import type { Message } from '../../message/message.ts'
import type { DeliveryContext, GroupContext, GroupMember, IssueContext, StatusChange } from '../provider-context.ts'
import { sendOutbound } from '../send-outbound.ts'
import { type CardMessage, cardOf, fitCard, groupCardOf, noteCard, type SizeLimits } from './adaptive-card.ts'
import {
  callService,
  isGone,
  postedMessageIn,
  requireSuccess,
  type TeamsContext,
  type TeamsTokens,
} from './bot-connector.ts'
import { type Destination, isKnownService, stateOf, type TeamsState } from './bot-installations.ts'
import { type Bot, botOf, type TeamsSettings } from './teams-config.ts'

interface PostRecord {
  /** The most recently posted delivery. It is not posted again after a crash. */
  postedId?: string
  /** True if the opening was posted in one message together with other openings. */
  isGroup?: true
}

/** Record of the bot's message that announced an issue. */
interface Thread extends PostRecord {
  appId: string
  channelId: string
  serviceUrl: string
  conversationId: string
  /** Null if Teams returned no id. The message then can't be edited. */
  activityId: string | null
}

/**
 * Memory of an issue that was posted through a workflow. A workflow returns no message id, so its messages can't be
 * edited.
 */
interface WorkflowMemory extends PostRecord {
  /** The most recently posted status. */
  told: IssueStatus
}

export type TeamsMemory = Thread | WorkflowMemory

type Issue = IssueContext<TeamsSettings, TeamsMemory, TeamsTokens, TeamsState>
type Delivery = DeliveryContext<TeamsSettings, TeamsMemory, TeamsTokens, TeamsState>

type Group = GroupContext<TeamsSettings, TeamsMemory, TeamsTokens, TeamsState>
type Member = GroupMember<TeamsMemory>

export async function deliver(context: Delivery, message: Message): Promise<Outcome> {
  const { settings, memory, deliveryId, isReplay } = context
  if (memory?.postedId === deliveryId && !isReplay) return DELIVERED
  const bot = botOf(settings)
  const card = (cut: SizeLimits) => cardOf(message, cut, message.issue?.resolvedBy ?? null)
  if (!bot) {
    const outcome = await sendOutbound(context, workflowRequest(settings, fitCard(card)))
    const isTold = outcome.verdict === 'delivered' && isAboutIssue(message)
    if (isTold) await context.remember({ ...memory, told: notifiedStatus(message), postedId: deliveryId })
    return outcome
  }
  const answers = isFollowUp(message) ? threadOf(context, bot) : null
  const isAnswered = answers !== null && (await reply(context, bot, answers, fitCard(card)))
  const thread = isAnswered ? answers : await post(context, bot, destinationOf(context), card)
  if (thread && isAboutIssue(message)) await context.remember({ ...thread, postedId: deliveryId })
  return DELIVERED
}

/** Posts several openings as one message. Later messages about any of the issues are replies to it. */
export async function deliverGroup(context: Group, members: readonly Member[]): Promise<Outcome> {
  const posted = members.find(({ memory, deliveryId }) => memory?.postedId === deliveryId)?.memory
  const told = posted ?? (await postGroup(context, members))
  if (told && 'verdict' in told) return told
  if (!told) return DELIVERED
  for (const member of members) await member.remember({ ...told, postedId: member.deliveryId, isGroup: true })
  return DELIVERED
}

/**
 * Posts the message. Returns the memory to save, or the outcome if the post failed. Null if Teams did not return the
 * message's id.
 */
async function postGroup(context: Group, members: readonly Member[]): Promise<TeamsMemory | Outcome | null> {
  const words = summarizeGroup(members)
  const card = (cut: SizeLimits) => groupCardOf(words, cut)
  const bot = botOf(context.settings)
  if (bot) return post(context, bot, destinationOf(context), card)
  const outcome = await sendOutbound(context, workflowRequest(context.settings, fitCard(card)))
  return outcome.verdict === 'delivered' ? { told: 'open' } : outcome
}

const isFollowUp = ({ kind }: Message) => kind === 'reopened' || kind === 'repeated' || kind === 'resolved'
const isAboutIssue = (message: Message) => message.kind === 'opened' || isFollowUp(message)
const notifiedStatus = ({ kind, issue }: Message): IssueStatus =>
  kind === 'resolved' ? 'resolved' : (issue?.status ?? 'open')

function workflowRequest({ webhookUrl = '' }: TeamsSettings, body: string) {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'Tagwarden' }
  return { kind: 'http', method: 'POST', url: webhookUrl, headers, body } as const
}

/** The thread of an issue. Null if there is no thread or this bot can't post in it. */
function threadOf({ memory, state, settings }: Issue, bot: Bot): Thread | null {
  if (!memory || !('conversationId' in memory) || memory.appId !== bot.appId) return null
  return isKnownService(stateOf(settings, state), memory.serviceUrl) ? memory : null
}

/** The chosen channel. Fails with `Unusable` if there is none. */
function destinationOf({ settings, state }: TeamsContext): Destination {
  const { channel } = stateOf(settings, state)
  if (channel) return channel
  throw new Unusable('incomplete', 'choose a channel first')
}

const activitiesOf = ({ conversationId }: Thread) =>
  `/v3/conversations/${encodeURIComponent(conversationId)}/activities`

/**
 * Replies in a thread. Returns false if the thread no longer exists, or is in a former channel that no longer accepts
 * the bot.
 */
async function reply(context: TeamsContext, bot: Bot, thread: Thread, body: string): Promise<boolean> {
  const { serviceUrl } = thread
  const answer = await callService(context, bot, { method: 'POST', serviceUrl, path: activitiesOf(thread), body })
  const isElsewhere = thread.channelId !== destinationOf(context).id
  if (isGone(answer) || (answer.status === 403 && isElsewhere)) return false
  requireSuccess(answer)
  return true
}

/** Starts a conversation in a channel. Null if Teams did not return its id. */
async function post(
  context: TeamsContext,
  bot: Bot,
  { id, serviceUrl }: Destination,
  card: (cut: SizeLimits) => CardMessage,
): Promise<Thread | null> {
  const body = fitCard((cut) => ({ isGroup: true, channelData: { channel: { id } }, activity: card(cut) }))
  const answer = await callService(context, bot, { method: 'POST', serviceUrl, path: '/v3/conversations', body })
  if (isGone(answer)) throw new Unusable('incomplete', 'the channel no longer exists: choose another one')
  const posted = postedMessageIn(requireSuccess(answer))
  return posted && { appId: bot.appId, channelId: id, serviceUrl, ...posted }
}

/**
 * Updates the opening message to the current status. If messages are sent through a workflow, posts the status changes
 * that no delivery reports.
 */
export async function syncStatus(context: Issue, change: StatusChange): Promise<Outcome> {
  const bot = botOf(context.settings)
  if (!bot) return notifyStatus(context, change)
  const thread = threadOf(context, bot)
  if (!thread?.activityId) return DELIVERED
  const { activityId, serviceUrl } = thread
  const path = `${activitiesOf(thread)}/${encodeURIComponent(activityId)}`
  const body = fitCard((cut) => ({ ...currentCard(change, thread, cut), id: activityId }))
  const answer = await callService(context, bot, { method: 'PUT', serviceUrl, path, body })
  // The message was deleted, or it is in a former channel that no longer accepts the bot.
  const isLeft = isGone(answer) || (answer.status === 403 && thread.channelId !== destinationOf(context).id)
  if (!isLeft) requireSuccess(answer)
  return DELIVERED
}

/** The card for the opening message. A reopening is sent as a reply, so it does not change the headline. */
function currentCard(change: StatusChange, { isGroup }: Thread, cut: SizeLimits): CardMessage {
  const { message, by } = change
  if (isGroup && change.groupedIssues.length > 1) return groupCardOf(summarizeGroup(change.groupedIssues), cut)
  return cardOf(message.kind === 'reopened' ? { ...message, kind: 'opened' } : message, cut, by)
}

async function notifyStatus(context: Issue, change: StatusChange): Promise<Outcome> {
  const { memory } = context
  const { status, by } = change
  if (!memory || !('told' in memory) || (memory.told === status && !memory.isGroup)) return DELIVERED
  // Resolutions and automatic reopenings are reported by deliveries.
  if (status === 'resolved' || (status === 'open' && by === null)) return DELIVERED
  const body = fitCard((cut) => statusCard(change, memory, cut))
  const outcome = await sendOutbound(context, workflowRequest(context.settings, body))
  if (outcome.verdict === 'delivered') await context.remember({ ...memory, told: status })
  return outcome
}

/**
 * The card for a status change. For a group message, it lists all acknowledged and muted issues, because users often
 * change many at once.
 */
function statusCard(change: StatusChange, { isGroup }: WorkflowMemory, cut: SizeLimits): CardMessage {
  const { status, by, message } = change
  const cared = isGroup && status !== 'open' ? change.groupedIssues.filter((one) => isHandled(one.status)) : []
  if (cared.length > 1) {
    const subject = `${cared.length} issues acknowledged or muted`
    const sentence = `${cared.length} of the ${change.groupedIssues.length} issues that opened together have been acknowledged or muted.`
    return groupCardOf({ ...summarizeGroup(cared), subject, sentence }, cut)
  }
  const word = status === 'open' ? 'Reopened' : capitalized(status)
  const title = `${word}${by === null ? '' : ` by ${by}`}`
  return noteCard(title, message.issue?.title ?? message.sentence, message.url)
}

const isHandled = (status: IssueStatus) => status === 'acknowledged' || status === 'muted'
