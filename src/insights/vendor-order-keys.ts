/**
 * Where a vendor's requests identify the order, when they do not use a common name. Null: they do, and only the
 * vendor's name for the value differs.
 */
export interface VendorOrderKeys {
  /** Name of the vendor in the decoders. */
  vendor: string
  /** Parameter that holds the id. */
  id: string | null
  /** Parameter that holds the value; null: a common one. */
  value: string | null
  /** Only events of this name, because one request may contain several. */
  event?: string
  /**
   * True when the id counts only together with a value: otherwise Floodlight's `ord` is a random number against caches.
   */
  needsValue?: true
}

/** Parameters according to the vendors' references. */
export const VENDOR_ORDER_KEYS: readonly VendorOrderKeys[] = [
  // https://support.google.com/google-ads/answer/6386790
  { vendor: 'Google Ads', id: 'oid', value: null },
  // https://support.google.com/campaignmanager/answer/2823450
  { vendor: 'Google Floodlight', id: 'ord', value: 'cost', needsValue: true },
  // https://experienceleague.adobe.com/en/docs/analytics/implementation/vars/page-vars/purchaseid
  { vendor: 'Adobe Analytics', id: 'purchaseID', value: null, event: 'purchase' },
  // https://github.com/adobe/xdm/blob/master/docs/reference/datatypes/order.schema.md
  {
    ...{ vendor: 'Adobe Experience Platform Web SDK', id: 'xdm.commerce.order.purchaseID' },
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
