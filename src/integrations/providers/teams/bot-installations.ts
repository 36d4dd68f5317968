import { oneLine } from '../../../core/text.ts'
import type { TeamsSettings } from './teams-config.ts'

/** A team in which the bot is installed. */
interface Team {
  /** Id of the team, which is also the id of its General channel. */
  id: string
  name: string | null
  tenantId: string | null
  /** URL of the team's Bot Connector service. It was received with a verified token. */
  serviceUrl: string
  /** The conversation of the most recent activity. */
  conversationId: string | null
  channels: { id: string; name: string | null }[]
}

/** The channel to which messages are posted. */
export interface Destination {
  id: string
  name: string
  serviceUrl: string
}

/** Saved state of an integration with a bot. */
export interface TeamsState {
  /** The bot that the state belongs to. */
  appId: string
  /** Teams in order of installation, oldest first. */
  teams: Team[]
  channel: Destination | null
}

// Limits that keep the state below 64 KiB.
const MAX_TEAMS = 30
const MAX_CHANNELS = 100
const MAX_ID = 150
const MAX_SERVICE_URL = 300
const MAX_NAME = 50

/** The state of the configured bot. Empty if the saved state belongs to another bot. */
export function stateOf({ appId = '' }: TeamsSettings, state: TeamsState | null): TeamsState {
  return state?.appId === appId ? state : { appId, teams: [], channel: null }
}

type Json = Record<string, unknown>
const fieldsOf = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})
const idIn = (value: unknown): string | null => {
  const { id } = fieldsOf(value)
  return typeof id === 'string' && id !== '' && id.length <= MAX_ID ? id : null
}
const nameIn = (value: unknown): string | null => {
  const { name } = fieldsOf(value)
  return typeof name === 'string' && name !== '' ? oneLine(name, MAX_NAME) : null
}

/** The tenant of an activity. Null if there is none. */
const tenantOf = (activity: Json): string | null => idIn(fieldsOf(activity.channelData).tenant)

/** True if the value is an http or https URL to which a path can be appended. */
function isServiceUrl(text: unknown): text is string {
  const url = typeof text === 'string' && text.length <= MAX_SERVICE_URL ? URL.parse(text) : null
  if (!url || !/^https?:$/.test(url.protocol)) return false
  return url.username === '' && url.password === '' && url.search === '' && url.hash === ''
}

/**
 * Returns the state after an activity. The activity's token must have been verified. Null if the activity does not
 * concern an installation.
 * https://learn.microsoft.com/microsoftteams/platform/bots/how-to/conversations/subscribe-to-conversation-events
 */
export function afterActivity(state: TeamsState, activity: Json): TeamsState | null {
  const { type, serviceUrl } = activity
  const channelData = fieldsOf(activity.channelData)
  const conversation = fieldsOf(activity.conversation)
  const inChannel = conversation.conversationType === 'channel' ? idIn(conversation) : null
  const id = idIn(channelData.team) ?? idIn(channelData.channel) ?? inChannel
  const tells = type === 'conversationUpdate' || type === 'installationUpdate'
  if (!tells || id === null || !isServiceUrl(serviceUrl)) return null
  const others = state.teams.filter((team) => team.id !== id)
  if (isGone(activity, channelData)) return { ...state, teams: others }
  const before = state.teams.find((team) => team.id === id)
  const team: Team = {
    id,
    name: nameIn(channelData.team) ?? before?.name ?? null,
    tenantId: tenantOf(activity) ?? before?.tenantId ?? null,
    serviceUrl,
    conversationId: idIn(conversation) ?? before?.conversationId ?? null,
    channels: channelsAfter(before?.channels ?? [], channelData),
  }
  const teams = before ? state.teams.map((one) => (one === before ? team : one)) : [...others, team]
  return { ...state, teams: fitting(teams) }
}

function isGone(activity: Json, { eventType }: Json): boolean {
  const bot = idIn(activity.recipient)
  const removed: unknown[] = Array.isArray(activity.membersRemoved) ? activity.membersRemoved : []
  if (bot !== null && removed.some((member) => idIn(member) === bot)) return true
  const { type, action } = activity
  const uninstalled = type === 'installationUpdate' && typeof action === 'string' && action.startsWith('remove')
  return uninstalled || eventType === 'teamDeleted' || eventType === 'teamHardDeleted'
}

function channelsAfter(channels: Team['channels'], { channel, eventType }: Json): Team['channels'] {
  const id = idIn(channel)
  if (id === null) return channels
  const others = channels.filter((one) => one.id !== id)
  if (eventType === 'channelDeleted') return others
  const name = nameIn(channel) ?? channels.find((one) => one.id === id)?.name ?? null
  return [...others, { id, name }]
}

/**
 * Keeps the oldest teams and their most recent channels within the limits, so that new teams can't displace existing
 * ones.
 */
function fitting(teams: Team[]): Team[] {
  let left = MAX_CHANNELS
  return teams.slice(0, MAX_TEAMS).map((team) => {
    const channels = left > 0 ? team.channels.slice(-left) : []
    left -= channels.length
    return { ...team, channels }
  })
}

/**
 * The service URL for a channel: that of the channel's team, or otherwise that of the first team. Null if the bot is
 * not installed.
 */
export function serviceFor({ teams }: TeamsState, channelId: string): string | null {
  const isIn = ({ id, channels }: Team) => id === channelId || channels.some((one) => one.id === channelId)
  return (teams.find(isIn) ?? teams[0])?.serviceUrl ?? null
}

/** True if the service URL was received with a verified token. The bot's token is never sent to any other URL. */
export function isKnownService({ teams, channel }: TeamsState, serviceUrl: string): boolean {
  return channel?.serviceUrl === serviceUrl || teams.some((team) => team.serviceUrl === serviceUrl)
}

/** Extracts the channel id from a link copied with "Get link to channel" in Teams. Returns any other text unchanged. */
export function channelIdIn(text: string): string {
  const path = /^https:\/\/[^/]+\/l\/channel\/([^/?#]+)/.exec(text.trim())?.[1]
  try {
    return path === undefined ? text : decodeURIComponent(path)
  } catch {
    return text
  }
}
