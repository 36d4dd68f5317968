/**
 * What people call the types of tags that Tag Manager has itself:
 * https://developers.google.com/tag-platform/tag-manager/api/v2/tag-dictionary-reference
 */
const NAMES = new Map([
  ['asp', 'AdRoll Smart Pixel'],
  ['awct', 'Google Ads conversion tracking'],
  ['awud', 'Google Ads user-provided data'],
  ['baut', 'Microsoft Advertising Universal Event Tracking'],
  ['bzi', 'LinkedIn Insight'],
  ['cegg', 'Crazy Egg'],
  ['crto', 'Criteo OneTag'],
  ['csm', 'comScore Unified Digital Measurement'],
  ['flc', 'Floodlight counter'],
  ['fls', 'Floodlight sales'],
  ['gaawc', 'Google Analytics: GA4 configuration'],
  ['gaawe', 'Google Analytics: GA4 event'],
  ['gclidw', 'Conversion linker'],
  ['googtag', 'Google tag'],
  ['hjtc', 'Hotjar'],
  ['html', 'Custom HTML'],
  ['img', 'Custom image'],
  ['mf', 'Mouseflow'],
  ['opt', 'Google Optimize'],
  ['qcm', 'Quantcast Audience Measurement'],
  ['qpx', 'Quora Pixel'],
  ['sp', 'Google Ads remarketing'],
  ['twitter_website_tag', 'X (Twitter) base code'],
  ['ua', 'Universal Analytics'],
])

/** The type in words; of a template its name; else the type itself. */
export function displayTypeOf(type: string, templateNames: ReadonlyMap<string, string>): string {
  return templateNames.get(type) ?? NAMES.get(type) ?? type
}
