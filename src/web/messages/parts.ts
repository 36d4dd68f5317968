/** Parts that many pages share: tables, filters, what is compared, help. */
export const parts = {
  select: (name: string) => `Select ${name}`,
  selectAll: 'Select all loaded',
  any: 'Any',
  none: 'None',
  search: 'Search',
  filters: 'Filters',
  without: (filter: string) => `Without ${filter}`,
  chip: (label: string) => `${label}:`,
  clearAll: 'Clear all',
  clearFilters: 'Clear filters',
  back: 'Back',
  goOn: 'Next',
  place: (first: string, last: string, of: string | null) =>
    of === null ? `${first} to ${last} of more` : `${first} to ${last} of ${of}`,
  noneMatch: 'Nothing matches these filters.',
  parameter: 'Parameter',
  differs: 'differs',
  blank: 'blank',
  absent: 'not sent',
  showMore: (count: number, isAlike: boolean) =>
    `Show ${count} ${isAlike ? 'equal' : 'more'} ${count === 1 ? 'parameter' : 'parameters'}`,
  showLess: 'Show fewer parameters',
}
