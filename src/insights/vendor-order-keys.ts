/** The parameters that identify an order in a vendor's requests when their names are not the common ones. */
export interface VendorOrderKeys {
  /** Name of the vendor in the decoders. */
  vendor: string
  /** Parameter that contains the id; null when its name is a common one. */
  id: string | null
  /** Parameter that contains the value; null when its name is a common one. */
  value: string | null
  /** Name of the only event to read. Set for vendors whose requests may contain several events. */
  event?: string
  /**
   * True when an id only counts together with a value. Without a value, Floodlight's `ord` is a random number that
   * prevents caching.
   */
  needsValue?: true
}

/** Parameters, taken from the vendors' documentation. */
export const VENDOR_ORDER_KEYS: readonly VendorOrderKeys[] = [
  // https://support.google.com/google-ads/answer/6386790
  { vendor: 'Google Ads', id: 'oid', value: null },
  // https://support.google.com/campaignmanager/answer/2823450
  { vendor: 'Google Floodlight', id: 'ord', value: 'cost', needsValue: true },
  // https://experienceleague.adobe.com/en/docs/analytics/implementation/vars/page-vars/purchaseid
  { vendor: 'Adobe Analytics', id: 'purchaseID', value: null, event: 'purchase' },
  // https://github.com/adobe/xdm/blob/master/docs/reference/datatypes/order.schema.md
  {
    vendor: 'Adobe Experience Platform Web SDK',
    id: 'xdm.commerce.order.purchaseID',
    value: 'xdm.commerce.order.priceTotal',
  },
  // https://developer.matomo.org/api-reference/tracking-api
  { vendor: 'Matomo', id: 'ec_id', value: null },
  // https://help.awin.com/developers/docs/conversion-pixel
  { vendor: 'Awin', id: 'ref', value: 'amount' },
  // https://guides.criteotilt.com/onetag/
  { vendor: 'Criteo OneTag', id: 'call.tr', value: null },
  // https://docs.snowplow.io/docs/sources/trackers/snowplow-tracker-protocol/
  { vendor: 'Snowplow', id: 'tr_id', value: 'tr_tt' },
  // https://developers.atinternet-solutions.com/piano-analytics/
  { vendor: 'Piano Analytics', id: null, value: 'data.cart_turnovertaxincluded' },
  // https://learn.microsoft.com/en-us/advertising/guides/universal-event-tracking
  { vendor: 'Microsoft Advertising UET', id: null, value: 'gv' },
]
