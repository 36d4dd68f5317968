import type { Channel } from './channel.ts'
import type { Connector } from './connector.ts'
import { email } from './email/email.ts'
import { jiraChannel, jiraConnector } from './jira/jira.ts'
import { slackChannel, slackConnector } from './slack/slack.ts'
import { teamsChannel, teamsConnector } from './teams/teams.ts'
import { webhookChannel, webhookConnector } from './webhook/webhook.ts'

/*
 * Products that alerts can notify. To add one, create a folder next to these, list it here, and give it a title in
 * `contract/products.ts`.
 */

/** Everything that alerts can send notifications to. */
export const CHANNELS: readonly Channel[] = [email, jiraChannel, teamsChannel, slackChannel, webhookChannel]

/** The connectors of these channels. E-mail has none because alerts name the addresses. */
export const CHANNEL_CONNECTORS: readonly Connector[] = [
  jiraConnector,
  teamsConnector,
  slackConnector,
  webhookConnector,
]
