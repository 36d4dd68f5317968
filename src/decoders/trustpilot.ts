import type { Decoder } from './decoder.ts'
import { jsonEvent, scriptLoad, sideChannel } from './route-builders.ts'

/** The account is the business unit; for an invitation, it is the key of the integration. */
export const trustpilot: Decoder = {
  vendor: 'Trustpilot',
  source: 'https://support.trustpilot.com/hc/en-us/articles/203840826',
  hosts: ['widget.trustpilot.com', 'invitejs.trustpilot.com'],
  routes: [
    // Widget statistics are named after the last segment of their path: `TrustboxImpression`, `TrustboxView`.
    jsonEvent(/^\/stats\/(?<event>\w+)$/, {
      account: ({ businessUnitId, businessunitId }) => businessUnitId ?? businessunitId,
    }),
    jsonEvent(/^\/(?:api\/)?(?<event>invitation|register)s?$/, { account: ({ key, appId }) => key ?? appId }),
    scriptLoad(/^\/(?:bootstrap|trustboxes)\//),
    scriptLoad(/^\/tp\.(?:min\.)?js$/),
    sideChannel(/^\/(?:trustbox-data|feedback)\//),
  ],
}
