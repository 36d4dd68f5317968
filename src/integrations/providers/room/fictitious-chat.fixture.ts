import { AppError } from '../../../core/error.ts'
import { Text } from '../../../core/schema.ts'
import { type Received, receiver } from '../../../transport/receiver.fixture.ts'
import type { Outcome } from '../../delivery-outcome.ts'
import { groupText, summarizeGroup } from '../../message/grouped-message-text.ts'
import type { Message } from '../../message/message.ts'
import { channel, NO_SECRETS, noDetail } from '../channel.ts'
import type { CallRequest, DeliveryContext, IntegrationContext } from '../provider-context.ts'

interface Settings {
  url: string
}

/** The message that opened an issue. */
interface Posted {
  ts: string
}

async function ask(context: IntegrationContext<Settings>, method: CallRequest['method'], path: string, json: object) {
  const { body } = await context.callOk({ method, url: `${context.settings.url}${path}`, body: JSON.stringify(json) })
  return JSON.parse(body) as Posted
}

/** A fictitious chat with group messages and threads. Its opening messages show the current status. */
export const room = channel<Settings, Posted>({
  type: 'team_chat',
  title: 'Room',
  help: 'Posts to a room.',
  secrets: NO_SECRETS,
  addresses: {
    target: Text(1, 2000, { title: 'Address' }),
    check(target, guard) {
      guard.checkUrl(target)
    },
    settingsOf: (url) => ({ url }),
  },
  hasIntegrations: false,
  checkDetail: noDetail,
  deliveryOf: () => ({
    openings: 'grouped',
    usesHistory: true,
    deliver: post,
    test: post,
    async deliverGroup(group, members) {
      const ids = members.map(({ deliveryId }) => deliveryId)
      const known = members.find(({ memory }) => memory)?.memory
      const posted = known ?? (await ask(group, 'POST', '/post', { ids, text: groupText(summarizeGroup(members)) }))
      for (const member of members) if (!member.memory) await member.remember(posted)
      return { verdict: 'delivered', note: null }
    },
    async syncStatus(context, change) {
      if (!context.memory) throw new AppError('invalid', 'nothing was posted')
      const shows = change.groupedIssues.map(({ issueId, status }) => `${issueId} ${status}`)
      await ask(context, 'PATCH', `/messages/${context.memory.ts}`, { shows })
      return { verdict: 'delivered', note: null }
    },
  }),
})

async function post(context: DeliveryContext<Settings, Posted>, message: Message): Promise<Outcome> {
  const thread = context.memory?.ts
  const text = `${message.kind} ${message.issue?.id}: ${message.sentence}`
  const posted = await ask(context, 'POST', '/post', { ids: [context.deliveryId], text, thread })
  if (!thread) await context.remember(posted)
  return { verdict: 'delivered', note: null }
}

/** A message stored by the fictitious chat's server. */
interface RoomMessage {
  ts: string
  ids: string[]
  text: string
  thread?: string
  /** The most recently shown status of each of the message's issues. */
  shows?: string[]
}

/** The server of the fictitious chat. It stops when disposed. */
export function roomServer() {
  const messages: RoomMessage[] = []
  const behaviour = {
    /** Replaces a response. Null: the normal response is sent. */
    instead: (_request: Received): Response | Promise<Response> | null => null,
  }
  const server = receiver(async (request) => {
    const other = await behaviour.instead(request)
    if (other) return other
    const { path, body } = request
    if (path.endsWith('/post')) {
      const ts = `ts-${messages.length}`
      messages.push({ ts, ...JSON.parse(body) })
      return Response.json({ ts })
    }
    const message = messages.find(({ ts }) => path.endsWith(`/messages/${ts}`))
    if (!message) return new Response('message_not_found', { status: 404 })
    message.shows = JSON.parse(body).shows
    return Response.json({ ts: message.ts })
  })
  return { ...server, messages, behaviour }
}
