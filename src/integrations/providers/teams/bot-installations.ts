import { oneLine } from '../../message/one-line.ts'
import type { TeamsSettings } from './teams-config.ts'

/** A team that has the bot. */
export interface Team {
  /** That of its General channel too. */
  id: string
  name: string | null
  tenantId: string | null
  /** Where the bot speaks with it; it came with a token that was checked. */
  serviceUrl: string
  /** In which conversation the bot was told of it. */
  conversationId: string | null
  channels: { id: string; name: string | null }[]
}

/** Where messages go. */
export interface Destination {
  id: string
  name: string
  serviceUrl: string
}

/** What is remembered of an integration with a bot. */
export interface TeamsState {
  /** What is known is known of this bot. */
  appId: string
  /** Those that have had it longest first. */
  teams: Team[]
  channel: Destination | null
}

// All of it has to fit into what may be remembered.
const MAX_TEAMS = 30
const MAX_CHANNELS = 100
const MAX_ID = 150
const MAX_SERVICE_URL = 300
const MAX_NAME = 50

/** What is known of the teams of this bot; what was known of another one counts for nothing. */
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

/** The tenant an activity is of; null when it does not say. */
const tenantOf = (activity: Json): string | null => idIn(fieldsOf(activity.channelData).tenant)

/** True for an address to which a path can be added. */
function isServiceUrl(text: unknown): text is string {
  const url = typeof text === 'string' && text.length <= MAX_SERVICE_URL ? URL.parse(text) : null
  if (!url || !/^https?:$/.test(url.protocol)) return false
  return url.username === '' && url.password === '' && url.search === '' && url.hash === ''
}

/**
 * What is known after an activity whose token was checked; null when it says nothing of a team that has the bot.
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

/** Whoever comes late can't push out those that are there: the first teams stay, with their latest channels. */
function fitting(teams: Team[]): Team[] {
  let left = MAX_CHANNELS
  return teams.slice(0, MAX_TEAMS).map((team) => {
    const channels = left > 0 ? team.channels.slice(-left) : []
    left -= channels.length
    return { ...team, channels }
  })
}

/** The service address for a channel: that of its team, else of the first; null when no team has the bot. */
export function serviceFor({ teams }: TeamsState, channelId: string): string | null {
  const isIn = ({ id, channels }: Team) => id === channelId || channels.some((one) => one.id === channelId)
  return (teams.find(isIn) ?? teams[0])?.serviceUrl ?? null
}

/** True for a service address that came with a token that was checked: no other one gets a token of ours. */
export function isKnownService({ teams, channel }: TeamsState, serviceUrl: string): boolean {
  return channel?.serviceUrl === serviceUrl || teams.some((team) => team.serviceUrl === serviceUrl)
}

/** The id in what "Get link to channel" of Teams gives; any other text as it is. */
export function channelIdIn(text: string): string {
  const path = /^https:\/\/[^/]+\/l\/channel\/([^/?#]+)/.exec(text.trim())?.[1]
  try {
    return path === undefined ? text : decodeURIComponent(path)
  } catch {
    return text
  }
}
