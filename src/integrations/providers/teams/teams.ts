import { CHANNEL_TITLES } from '../../../contract/products.ts'
import { AppError } from '../../../core/error.ts'
import { Closed, Type } from '../../../core/schema.ts'
import { originOf } from '../../../transport/address-guard.ts'
import { channel, noDetail, type Secrets } from '../channel.ts'
import { type Addressee, connector, type InboundCall, type SignedReceiver } from '../connector.ts'
import type { TeamsTokens } from './bot-connector.ts'
import { afterActivity, stateOf, type TeamsState } from './bot-installations.ts'
import { routes } from './choose-channel-route.ts'
import { deliver, deliverGroup, syncStatus, type TeamsMemory } from './post-card.ts'
import { signingKey } from './signing-keys.ts'
import {
  checkWorkflowUrl,
  OPERATOR_SETTINGS,
  operatorUrl,
  prepareTeams,
  TeamsConfigSchema,
  type TeamsSettings,
  WORKFLOW_TARGET,
} from './teams-config.ts'
import { checkToken, readToken } from './verify-connector-token.ts'

/**
 * Integrations whose bot is the audience of the token. Several integrations can share a bot and use different channels.
 */
function addressees(call: InboundCall, integrations: readonly Addressee[]): string[] {
  const { claims } = readToken(call)
  const bots = integrations.filter(({ config }) => typeof config.appId === 'string')
  if (bots.length === 0) throw new AppError('conflict', 'no bot is configured')
  const found = bots.filter(({ config }) => config.appId === claims.aud)
  if (found.length === 0) throw new AppError('forbidden', 'the connector token is for another app')
  return found.map(({ id }) => id)
}

/** Verifications in progress or finished. Each call is verified once for all integrations that share the bot. */
const checked = new WeakMap<InboundCall, { appId: string; done: Promise<void> }>()

type Context = Parameters<typeof signingKey>[0]

async function checkCall(context: Context, call: InboundCall, appId: string): Promise<void> {
  const read = readToken(call)
  const key = await signingKey(context, read.kid)
  if (!key) throw new AppError('unauthorized', 'the connector token is not signed with a key of the Bot Connector')
  const issuer = operatorUrl(context.operator, 'OFFICE_CHAT_ISSUER')
  await checkToken(read, { key, issuer, appId, activity: call.body, now: context.now() })
}

/** The bot's messaging endpoint. Calls to it report the teams in which the bot is installed and their service URLs. */
const receiver: SignedReceiver<TeamsSettings, TeamsMemory, TeamsTokens, TeamsState> = {
  by: 'call',
  callers: 'signed',
  path: 'messages',
  summary: 'Receive an activity for a Teams bot',
  answer: Closed(
    { handled: Type.Boolean({ description: "False for activities that don't concern an installation of the bot" }) },
    { $id: 'ActivityHandled', examples: [{ handled: true }] },
  ),
  refusals: ['conflict', 'upstream'],
  addressees,
  credential: {
    name: 'connectorToken',
    scheme: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'JWT signed by the Bot Connector' },
  },
  async receive(context, call) {
    const { appId = '' } = context.settings
    const one = checked.get(call)
    const check = one?.appId === appId ? one : { appId, done: checkCall(context, call, appId) }
    checked.set(call, check)
    await check.done
    const state = afterActivity(stateOf(context.settings, context.state), call.body)
    if (state) await context.saveState(state)
    return { handled: state !== null }
  },
}

const PRODUCT = {
  type: 'office_chat',
  title: CHANNEL_TITLES.office_chat,
  help: 'Posts messages as cards, through a workflow or as a bot. A bot also updates its cards when an issue changes.',
} as const

const secrets: Secrets<TeamsSettings> = { fields: ['webhookUrl', 'appPassword'], derived: () => [] }

/**
 * Microsoft Teams, through a workflow URL or through a bot that updates its messages. See
 * `docs/connect/microsoft-teams.md`.
 */
export const teamsChannel = channel<TeamsSettings, TeamsMemory, TeamsTokens, TeamsState>({
  ...PRODUCT,
  secrets,
  addresses: { target: WORKFLOW_TARGET, check: checkWorkflowUrl, settingsOf: (target) => ({ webhookUrl: target }) },
  hasIntegrations: true,
  checkDetail: noDetail,
  deliveryOf: () => ({ openings: 'grouped', usesHistory: true, deliver, deliverGroup, test: deliver, syncStatus }),
})

/** Microsoft Teams with its settings, the choice of a channel, and the bot's messaging endpoint. */
export const teamsConnector = connector<TeamsSettings, TeamsMemory, TeamsTokens, TeamsState>({
  ...PRODUCT,
  secrets,
  operator: OPERATOR_SETTINGS,
  notifies: true,
  configuration: {
    schema: TeamsConfigSchema,
    prepare: prepareTeams,
    perOrganization: 'many',
    exclusive: ['appId'],
    isComplete: (settings, state) => settings.webhookUrl !== undefined || stateOf(settings, state).channel !== null,
    origin: ({ webhookUrl }, operator) => originOf(webhookUrl ?? operatorUrl(operator, 'OFFICE_CHAT_LOGIN_URL')),
  },
  connection: { by: 'settings' },
  inbound: [receiver],
  routes,
})
