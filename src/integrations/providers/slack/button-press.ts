import { CallFailed } from '../../outcome.ts'
import { parsePress } from './message-buttons.ts'
import { callMethod, readMethod } from './slack-api.ts'
import type { SlackInbound, SlackListening } from './slack-context.ts'
import { Refused } from './slack-errors.ts'

/** What Slack says of a press. Source: https://docs.slack.dev/reference/interaction-payloads/block_actions-payload */
interface Payload {
  type?: unknown
  user?: { id?: unknown }
  channel?: { id?: unknown }
  container?: { message_ts?: unknown; channel_id?: unknown; thread_ts?: unknown }
  message?: { ts?: unknown }
  response_url?: unknown
  actions?: unknown
}

interface PressedAction {
  action_id?: unknown
  value?: unknown
  action_ts?: unknown
}

/** Who pressed, and where. */
interface Presser {
  userId: string
  channel: string
  ts: string
  responseUrl: string | null
}

/** Issues that a message names, at most, that are looked through for it. */
const MOST_ISSUES = 5000

/** Carries out a press of a button for the member who pressed; whoever may not is told so, and nobody else. */
export async function handlePress(context: SlackListening, given: unknown): Promise<void> {
  const payload = (typeof given === 'object' && given !== null ? given : {}) as Payload
  const presser = presserOf(payload)
  if (payload.type !== 'block_actions' || !presser) return
  const actions = Array.isArray(payload.actions) ? payload.actions : []
  for (const { action_id, value, action_ts } of actions as PressedAction[]) {
    const asked = parsePress(action_id, value)
    // Another app's socket does not say what this one's buttons say; another integration's of the same app does.
    const inbound = asked && context.sharedWith(asked.integrationId)
    if (!inbound) continue
    const key = `press ${presser.userId} ${presser.ts} ${String(value)} ${String(action_ts)}`
    if (inbound.isRepeat(key)) continue
    inbound.noteCall(key)
    await carryOut(inbound, presser, asked)
  }
}

function presserOf({ user, channel, container, message, response_url }: Payload): Presser | null {
  const at = channel?.id ?? container?.channel_id
  const ts = container?.message_ts ?? message?.ts
  if (typeof user?.id !== 'string' || typeof at !== 'string' || typeof ts !== 'string') return null
  return { userId: user.id, channel: at, ts, responseUrl: typeof response_url === 'string' ? response_url : null }
}

type Asked = NonNullable<ReturnType<typeof parsePress>>

async function carryOut(inbound: SlackInbound, presser: Presser, { status, issueId }: Asked): Promise<void> {
  const email = await emailOf(inbound, presser)
  if (typeof email !== 'string') return tell(inbound, presser, email.fault)
  const member = inbound.editorOf(email)
  if (!member) return tell(inbound, presser, NO_MEMBER)
  const ids = issueId === null ? issuesAt(inbound, presser) : [issueId]
  const results = ids.map((id) => inbound.setStatusAs(member.userId, id, status))
  if (results.some((result) => result?.changed)) return
  const [was] = results.flatMap((result) => result?.was ?? [])
  await tell(inbound, presser, was ? `Nothing was changed: it is ${was} already.` : 'The issue is gone.')
}

const NO_MEMBER =
  'Nothing was changed: only members of the organization in Tagwarden may do this, with the e-mail address that they have in Slack.'

/** Issues that the message names. */
const issuesAt = (inbound: SlackInbound, { channel, ts }: Presser) =>
  inbound
    .issues(MOST_ISSUES)
    .filter(({ memory }) => memory.opening?.ts === ts && memory.opening.channel === channel)
    .map(({ issueId }) => issueId)

interface SlackUser {
  deleted?: unknown
  is_bot?: unknown
  is_stranger?: unknown
  is_email_confirmed?: unknown
  team_id?: unknown
  enterprise_user?: { enterprise_id?: unknown; teams?: unknown }
  profile?: { email?: unknown }
}

/** The address that the workspace vouches for: in other workspaces, which share the channel, others decide about addresses. */
async function emailOf(inbound: SlackInbound, { userId }: Presser): Promise<string | { fault: string }> {
  try {
    const { user } = await readMethod(inbound, 'users.info', { user: userId })
    const known = (typeof user === 'object' && user !== null ? user : {}) as SlackUser
    const email = known.profile?.email
    if (isOwn(known, inbound.state?.teamId ?? null) && typeof email === 'string' && email !== '') return email
    return { fault: NO_MEMBER }
  } catch (error) {
    if (error instanceof Refused)
      return { fault: `Nothing was changed: it is not known who you are. ${error.message}.` }
    if (error instanceof CallFailed) return { fault: 'Nothing was changed: Slack did not say who you are. Try again.' }
    throw error
  }
}

function isOwn(
  { deleted, is_bot, is_stranger, is_email_confirmed, team_id, enterprise_user }: SlackUser,
  teamId: string | null,
) {
  if (deleted === true || is_bot === true || is_stranger === true || is_email_confirmed === false) return false
  if (teamId === null || typeof team_id !== 'string' || team_id === teamId) return true
  return Array.isArray(enterprise_user?.teams) && enterprise_user.teams.includes(teamId)
}

/** Tells whoever pressed, and nobody else. */
async function tell(inbound: SlackInbound, { channel, userId, responseUrl }: Presser, text: string): Promise<void> {
  try {
    await callMethod(inbound, 'chat.postEphemeral', { channel, user: userId, text })
  } catch (error) {
    if (!(error instanceof Refused) || responseUrl === null) throw error
    // Where the app posts without being in the channel.
    await inbound.callOk({
      method: 'POST',
      url: responseUrl,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ response_type: 'ephemeral', replace_original: false, text }),
    })
  }
}
