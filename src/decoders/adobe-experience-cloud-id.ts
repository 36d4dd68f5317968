import { declaredIds } from './adobe-audience-manager.ts'
import type { Decoder } from './decoder.ts'
import { withEmbedded } from './embedded-params.ts'
import { scalarOrNull } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const ID = /^\/id$/

function readRequest({ fields }: VendorRequest) {
  return [
    {
      event: 'id',
      account: scalarOrNull(fields.d_orgid ?? fields.mcorgid),
      params: withEmbedded(fields, declaredIds(fields)),
    },
  ]
}

/** Requests for the visitor's id: the Experience Cloud ID, or on the customer's own host the Analytics ID. */
export const adobeExperienceCloudId: Decoder = {
  vendor: 'Adobe Experience Cloud ID',
  source: 'https://experienceleague.adobe.com/en/docs/id-service/using/home',
  hosts: ['demdex.net', 'omtrdc.net'],
  routes: [
    { path: ID, read: readRequest },
    // The same request, sent again after testing whether the browser accepts cookies.
    sideChannel(/^\/id\/rd$/),
    {
      path: ID,
      anyHost: true,
      mark: /^(?=.*[?&](?:d_orgid|mcorgid)=).*[?&]d_visid_ver=/,
      when: ({ query }) => 'd_visid_ver' in query && Boolean(query.d_orgid || query.mcorgid),
      read: readRequest,
    },
    { ...scriptLoad(/\/VisitorAPI(?:\.min)?\.js$/), anyHost: true },
  ],
}
