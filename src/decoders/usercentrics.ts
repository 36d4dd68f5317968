import type { DecodedEvent, Decoder } from './decoder.ts'
import { isJson } from './json.ts'
import { objectOf, objectsOf, scalarOrNull, scalarText } from './params.ts'
import { jsonEvent, pixel, scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** Event types by number, from `UsercentricsAnalyticsEventType`: https://github.com/Usercentrics/react-native-sdk */
const TYPES = new Map([
  ['1', 'CMP_SHOWN'],
  ['5', 'ACCEPT_ALL_FIRST_LAYER'],
  ['6', 'DENY_ALL_FIRST_LAYER'],
  ['7', 'SAVE_FIRST_LAYER'],
  ['8', 'ACCEPT_ALL_SECOND_LAYER'],
  ['9', 'DENY_ALL_SECOND_LAYER'],
  ['10', 'SAVE_SECOND_LAYER'],
  ['12', 'IMPRINT_LINK'],
  ['13', 'MORE_INFORMATION_LINK'],
  ['14', 'PRIVACY_POLICY_LINK'],
  ['15', 'CCPA_TOGGLES_ON'],
  ['16', 'CCPA_TOGGLES_OFF'],
])

export const usercentrics: Decoder = {
  vendor: 'Usercentrics',
  source: 'https://docs.usercentrics.com/#/browser-sdk',
  hosts: ['usercentrics.eu'],
  routes: [
    { path: /^\/uct\/?$/, read: readInteraction },
    jsonEvent(/^\/consent\/u\w\/\d$/, { account: 'settingsId', event: 'action' }),
    { path: /^\/graphql$/, read: readQuery },
    // Sessions counted for billing.
    pixel(/^\/session\/1px\.png$/, { account: 'settingsId', event: () => 'session' }),
    scriptLoad(/^\/(?:latest\/)?settings\/(?<account>[\w-]+)\//),
    scriptLoad(/\.js$/),
  ],
}

/** `t` is the event and `sid` the settings id. Both are in the query or in JSON. */
function readInteraction(request: VendorRequest): DecodedEvent[] {
  const sent = isJson(request.body) ? { ...request.query, ...request.json } : request.fields
  const type = scalarText(sent.t ?? sent.eventType)
  return [{ event: TYPES.get(type) ?? type, account: scalarOrNull(sent.sid ?? sent.settingsId), params: sent }]
}

function readQuery({ json }: VendorRequest): DecodedEvent[] {
  const { operationName, variables } = json
  const shared = objectOf(variables)
  const [first] = objectsOf(shared.consents)
  const account = scalarOrNull(shared.settingsId ?? first?.settingsId)
  return [{ event: scalarText(operationName), account, params: shared }]
}
