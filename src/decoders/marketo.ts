import type { DecodedEvent, Decoder, Route } from './decoder.ts'
import { scalarOrNull } from './params.ts'
import { scriptLoad } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const VISIT = /^\/webevents\/(?<event>\w+)$/
const FORM: Route = { path: /^\/index\.php\/leadCapture\/save\w*$/, read: readForm }

/** The account is the Munchkin id, `123-ABC-456`. */
export const marketo: Decoder = {
  vendor: 'Marketo',
  source: 'https://experienceleague.adobe.com/en/docs/marketo-developer/marketo/javascriptapi/leadtracking/munchkin',
  hosts: ['mktoresp.com', 'marketo.net', 'marketo.com'],
  routes: [
    { path: VISIT, read: readVisit },
    FORM,
    scriptLoad(/^\/(?:[\w.-]+\/)?munchkin(?:-beta)?\.js$/),
    scriptLoad(/^\/js\/forms2\//),
    scriptLoad(/^\/index\.php\/form\/getForm$/, 'munchkinId'),
    // Landing pages on the customer's own host.
    { ...FORM, anyHost: true, mark: /[&\n]munchkinId=/, when: ({ body }) => body?.includes('munchkinId=') ?? false },
  ],
}

function readVisit({ path, fields }: VendorRequest): DecodedEvent[] {
  return [{ event: VISIT.exec(path)?.groups?.event ?? '', account: scalarOrNull(fields._mchId), params: fields }]
}

function readForm({ fields }: VendorRequest): DecodedEvent[] {
  return [{ event: 'form_submission', account: scalarOrNull(fields.munchkinId), params: fields }]
}
