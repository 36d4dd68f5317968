import { capitalized } from '../../../core/text.ts'
import type { IssueStatus } from '../../../issues/issue.ts'
import { summarizeGroup } from '../../message/group-text.ts'
import type { Message } from '../../message/message.ts'
import { DELIVERED, type Outcome, Unusable } from '../../outcome.ts'
import type { DeliveryContext, GroupContext, GroupMember, IssueContext, StatusChange } from '../provider-context.ts'
import { sendMail } from '../send-mail.ts'
import { type CardMessage, type Cut, cardOf, fitting, groupCardOf, noteCard } from './adaptive-card.ts'
import { callService, isGone, postedIn, requireSuccess, type TeamsContext, type TeamsTokens } from './bot-connector.ts'
import { type Destination, isKnownService, stateOf, type TeamsState } from './bot-installations.ts'
import { type Bot, botOf, type TeamsSettings } from './teams-config.ts'

interface Said {
  /** What was said last went as this delivery: after a kill it is not said again. */
  postedId?: string
  /** The opening was told with others in one message. */
  isGroup?: true
}

/** The message that opened an issue, in its channel. */
export interface Thread extends Said {
  appId: string
  channelId: string
  serviceUrl: string
  conversationId: string
  /** Null: Teams did not say, so it can't be edited. */
  activityId: string | null
}

/** What a workflow was last told of an issue: it answers no id, so nothing can be edited. */
interface Told extends Said {
  told: IssueStatus
}

export type TeamsMemory = Thread | Told

type Issue = IssueContext<TeamsSettings, TeamsMemory, TeamsTokens, TeamsState>
type Delivery = DeliveryContext<TeamsSettings, TeamsMemory, TeamsTokens, TeamsState>

type Group = GroupContext<TeamsSettings, TeamsMemory, TeamsTokens, TeamsState>
type Member = GroupMember<TeamsMemory>

export async function deliver(context: Delivery, message: Message): Promise<Outcome> {
  const { settings, memory, deliveryId, isReplay } = context
  if (memory?.postedId === deliveryId && !isReplay) return DELIVERED
  const bot = botOf(settings)
  const card = (cut: Cut) => cardOf(message, cut, message.issue?.resolvedBy ?? null)
  if (!bot) {
    const outcome = await sendMail(context, workflowRequest(settings, fitting(card)))
    const isTold = outcome.verdict === 'delivered' && isAboutIssue(message)
    if (isTold) await context.remember({ ...memory, told: toldBy(message), postedId: deliveryId })
    return outcome
  }
  const answers = continues(message) ? threadOf(context, bot) : null
  const isAnswered = answers !== null && (await reply(context, bot, answers, fitting(card)))
  const thread = isAnswered ? answers : await post(context, bot, destinationOf(context), card)
  if (thread && isAboutIssue(message)) await context.remember({ ...thread, postedId: deliveryId })
  return DELIVERED
}

/** Openings that go as one message; what follows about any of them is an answer to it. */
export async function deliverGroup(context: Group, members: readonly Member[]): Promise<Outcome> {
  const posted = members.find(({ memory, deliveryId }) => memory?.postedId === deliveryId)?.memory
  const told = posted ?? (await tellGroup(context, members))
  if (told && 'verdict' in told) return told
  if (!told) return DELIVERED
  for (const member of members) await member.remember({ ...told, postedId: member.deliveryId, isGroup: true })
  return DELIVERED
}

/** What is to be remembered, or how it failed; null when Teams does not say where the message is. */
async function tellGroup(context: Group, members: readonly Member[]): Promise<TeamsMemory | Outcome | null> {
  const words = summarizeGroup(members)

  const card = (cut: Cut) => groupCardOf(words, cut)
  const bot = botOf(context.settings)
  if (bot) return post(context, bot, destinationOf(context), card)
  const outcome = await sendMail(context, workflowRequest(context.settings, fitting(card)))
  return outcome.verdict === 'delivered' ? { told: 'open' } : outcome
}

const continues = ({ kind }: Message) => kind === 'reopened' || kind === 'repeated' || kind === 'resolved'
const isAboutIssue = (message: Message) => message.kind === 'opened' || continues(message)
const toldBy = ({ kind, issue }: Message): IssueStatus => (kind === 'resolved' ? 'resolved' : (issue?.status ?? 'open'))

function workflowRequest({ webhookUrl = '' }: TeamsSettings, body: string) {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'Tagwarden' }
  return { kind: 'http', method: 'POST', url: webhookUrl, headers, body } as const
}

/** Null: there is none, or this bot can't speak in it. */
function threadOf({ memory, state, settings }: Issue, bot: Bot): Thread | null {
  if (!memory || !('conversationId' in memory) || memory.appId !== bot.appId) return null
  return isKnownService(stateOf(settings, state), memory.serviceUrl) ? memory : null
}

/** Fails with `Unusable` while none is chosen. */
function destinationOf({ settings, state }: TeamsContext): Destination {
  const { channel } = stateOf(settings, state)
  if (channel) return channel
  throw new Unusable('incomplete', 'a channel has to be chosen first')
}

const activitiesOf = ({ conversationId }: Thread) =>
  `/v3/conversations/${encodeURIComponent(conversationId)}/activities`

/** False when nothing can be said there any more: it is gone, or in a channel that is not the chosen one and closed to the bot. */
async function reply(context: TeamsContext, bot: Bot, thread: Thread, body: string): Promise<boolean> {
  const { serviceUrl } = thread
  const answer = await callService(context, bot, { method: 'POST', serviceUrl, path: activitiesOf(thread), body })
  const isElsewhere = thread.channelId !== destinationOf(context).id
  if (isGone(answer) || (answer.status === 403 && isElsewhere)) return false
  requireSuccess(answer)
  return true
}

/** Begins a conversation in a channel; null when Teams does not say where it is. */
export async function post(
  context: TeamsContext,
  bot: Bot,
  { id, serviceUrl }: Destination,
  card: (cut: Cut) => CardMessage,
): Promise<Thread | null> {
  const body = fitting((cut) => ({ isGroup: true, channelData: { channel: { id } }, activity: card(cut) }))
  const answer = await callService(context, bot, { method: 'POST', serviceUrl, path: '/v3/conversations', body })
  if (isGone(answer)) throw new Unusable('incomplete', 'the channel is not there any more: choose another one')
  const posted = postedIn(requireSuccess(answer))
  return posted && { appId: bot.appId, channelId: id, serviceUrl, ...posted }
}

/** Shows the present state in the opening; a workflow is told of it, where no delivery does. */
export async function syncStatus(context: Issue, change: StatusChange): Promise<Outcome> {
  const bot = botOf(context.settings)
  if (!bot) return tellState(context, change)
  const thread = threadOf(context, bot)
  if (!thread?.activityId) return DELIVERED
  const { activityId, serviceUrl } = thread
  const path = `${activitiesOf(thread)}/${encodeURIComponent(activityId)}`
  const body = fitting((cut) => ({ ...presentCard(change, thread, cut), id: activityId }))
  const answer = await callService(context, bot, { method: 'PUT', serviceUrl, path, body })
  // Somebody has deleted the message, or closed its channel to the bot since another was chosen: nothing can be shown there.
  const isLeft = isGone(answer) || (answer.status === 403 && thread.channelId !== destinationOf(context).id)
  if (!isLeft) requireSuccess(answer)
  return DELIVERED
}

/** The opening, which a reopening does not change: that is an answer to it. */
function presentCard(change: StatusChange, { isGroup }: Thread, cut: Cut): CardMessage {
  const { message, by } = change
  if (isGroup && change.groupedIssues.length > 1) return groupCardOf(summarizeGroup(change.groupedIssues), cut)
  return cardOf(message.kind === 'reopened' ? { ...message, kind: 'opened' } : message, cut, by)
}

async function tellState(context: Issue, change: StatusChange): Promise<Outcome> {
  const { memory } = context
  const { status, by } = change
  if (!memory || !('told' in memory) || (memory.told === status && !memory.isGroup)) return DELIVERED
  // Deliveries say that it was resolved, and that it came back by itself.
  if (status === 'resolved' || (status === 'open' && by === null)) return DELIVERED
  const body = fitting((cut) => stateCard(change, memory, cut))
  const outcome = await sendMail(context, workflowRequest(context.settings, body))
  if (outcome.verdict === 'delivered') await context.remember({ ...memory, told: status })
  return outcome
}

/** One of many that were told together brings all that are looked after: people look after many at once. */
function stateCard(change: StatusChange, { isGroup }: Told, cut: Cut): CardMessage {
  const { status, by, message } = change
  const cared = isGroup && status !== 'open' ? change.groupedIssues.filter((one) => isCaredFor(one.status)) : []
  if (cared.length > 1) {
    const subject = `${cared.length} issues are acknowledged or muted`
    const sentence = `Of ${change.groupedIssues.length} that opened together.`
    return groupCardOf({ ...summarizeGroup(cared), subject, sentence }, cut)
  }
  const word = status === 'open' ? 'Open again' : capitalized(status)
  const title = `${word}${by === null ? '' : ` by ${by}`}`
  return noteCard(title, message.issue?.title ?? message.sentence, message.url)
}

const isCaredFor = (status: IssueStatus) => status === 'acknowledged' || status === 'muted'
