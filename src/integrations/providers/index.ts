import type { OperatorSetting } from '../../config.ts'
import { email } from './email/email.ts'
import { emailDigest } from './email-digest/email-digest.ts'
import { googleTagManager } from './google-tag-manager/google-tag-manager.ts'
import { jira } from './jira/jira.ts'
import type { Provider } from './provider.ts'
import { slack } from './slack/slack.ts'
import { teams } from './teams/teams.ts'
import { webhook } from './webhook/webhook.ts'

/** All providers. To add one, create a folder next to these and list it here. */
export const PROVIDERS: readonly Provider[] = [email, emailDigest, jira, teams, googleTagManager, slack, webhook]

/** The server-wide settings of all providers. */
export const PROVIDER_SETTINGS: readonly OperatorSetting[] = PROVIDERS.flatMap(({ operator = [] }) => operator)
