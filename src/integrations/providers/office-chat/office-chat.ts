import { originOf } from '../../transport/address-guard.ts'
import { provider } from '../provider.ts'
import type { OfficeChatTokens } from './connector.ts'
import { type ChatMemory, deliver, deliverGroup, syncStatus } from './deliver.ts'
import { receiver } from './receive.ts'
import { routes } from './routes.ts'
import {
  checkWorkflowUrl,
  OfficeChatConfigSchema,
  type OfficeChatSettings,
  OPERATOR_SETTINGS,
  operatorUrl,
  prepareOfficeChat,
  WORKFLOW_TARGET,
} from './settings.ts'
import { type OfficeChatState, stateOf } from './teams.ts'

/** Microsoft Teams: the address of a workflow, or a bot that edits what it posted. `docs/connect/microsoft-teams.md` */
export const officeChat = provider<OfficeChatSettings, ChatMemory, OfficeChatTokens, OfficeChatState>({
  type: 'office_chat',
  title: 'Microsoft Teams',
  help: 'Posts each message as a card: into the channel of a workflow, or as a bot that keeps its cards up to date.',
  connect: { by: 'secret', fields: ['webhookUrl', 'appPassword'] },
  operator: OPERATOR_SETTINGS,
  configured: {
    form: OfficeChatConfigSchema,
    prepare: prepareOfficeChat,
    exclusive: 'appId',
    isComplete: (settings, state) =>
      settings.webhookUrl !== undefined || stateOf(settings, state as OfficeChatState | null).channel !== null,
  },
  addresses: { target: WORKFLOW_TARGET, check: checkWorkflowUrl, settingsOf: (target) => ({ webhookUrl: target }) },
  origin: ({ webhookUrl }, operator) => originOf(webhookUrl ?? operatorUrl(operator, 'OFFICE_CHAT_LOGIN_URL')),
  deliver,
  deliverGroup,
  syncStatus,
  receiver,
  routes,
})
