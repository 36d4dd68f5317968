import type { Decoder, KeyReference } from './decoder.ts'
import { isJson } from './json.ts'
import { scalarOrNull } from './params.ts'
import { jsonEvent, pixel, scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const FORM =
  /^\/(?:uploads\/form\/v2|submissions\/v3\/(?:integration\/(?:secure\/)?submit|public\/submit\/formsnext\/multipart))\/(?<account>\d+)\//

const KEYS: readonly KeyReference[] = [
  {
    url: 'https://developers.hubspot.com/docs/api-reference/legacy/forms-v3-legacy',
    meanings: {
      'fields.#.name': ['text', 'Name of the field'],
      'fields.#.value': ['text', 'Value of the field'],
      'fields.#.objectTypeId': ['identifier', 'Type of the object to which the field belongs'],
      submittedAt: ['time', 'Time of the submission, in milliseconds since 1970'],
      'context.hutk': ['identifier', 'Browser ID, from the cookie hubspotutk'],
      'context.pageUri': ['url', 'Address of the page'],
      'context.pageName': ['text', 'Title of the page'],
      'context.ipAddress': ['text', 'IP address of the visitor'],
    },
  },
]

export const hubspot: Decoder = {
  vendor: 'HubSpot',
  source: 'https://developers.hubspot.com/docs/api-reference/legacy/tracking-code',
  keys: KEYS,
  hosts: [
    'hubspot.com',
    'hubapi.com',
    'hs-scripts.com',
    'hs-analytics.net',
    'hs-banner.com',
    'hscollectedforms.net',
    'hsforms.com',
    'hsforms.net',
    'hsadspixel.net',
    'usemessages.com',
  ],
  routes: [
    // `id` or `n` is the name of a custom event. `k` is the type; 1 is a page view.
    pixel(/^\/__pt\w{1,2}\.gif$/, {
      account: 'a',
      event: ({ id, n, k = '1' }) => id || n || (k === '1' ? 'page_view' : k),
    }),
    { path: FORM, read: readForm },
    jsonEvent(/^\/collected-forms\/submit\/form$/, { account: 'portalId', event: () => 'collected_form_submission' }),
    // A visitor viewed (`view`) or clicked a call to action.
    jsonEvent(/^\/web-interactives\/public\/v1\/track\/(?<event>\w+)$/, { account: 'portalId' }),
    jsonEvent(/^\/events\/v3\/send$/, { event: 'eventName' }),
    scriptLoad(/^\/embed\/v\d\/form\/(?<account>\d+)\//),
    // `hs-scripts.com/101.js`, `hs-analytics.net/analytics/1700000000000/101.js`, `hs-banner.com/v2/101/banner.js`.
    { ...scriptLoad(/\/(?<account>\d+)(?:\/banner)?\.js$/), when: isScriptHost },
    { ...scriptLoad(/\.js$/), when: isScriptHost },
  ],
}

function isScriptHost({ host }: VendorRequest): boolean {
  return /^js[.-]/.test(host)
}

/** JSON or a form: https://developers.hubspot.com/docs/api-reference/legacy/forms-v3-legacy */
function readForm(request: VendorRequest) {
  const account = scalarOrNull(FORM.exec(request.path)?.groups?.account)
  return [{ event: 'form_submission', account, params: isJson(request.body) ? request.json : request.fields }]
}
