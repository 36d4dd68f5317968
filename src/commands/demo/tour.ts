/** Returns paths of API requests for a new user to try, each with a description of its result. */
export function questions(domainId: string): [path: string, sees: string][] {
  return [
    ['/v1/issues', 'what is wrong now'],
    ['/v1/insights/causes', 'what caused it'],
    ['/v1/changes', 'releases, and what they broke'],
    ['/v1/auto/signals', 'what each tag usually sends, and its current state'],
    ['/v1/compliance/pii', 'personal data that tags give away'],
    ['/v1/compliance/consent', 'vendors that received events of visitors who refused consent'],
    ['/v1/insights/suggestions', 'rules that traffic keeps already'],
    [`/v1/insights/reconcile?domainId=${domainId}`, 'orders that vendors were not told of'],
    ['/v1/insights/scores', 'how well it goes, in three numbers'],
  ]
}
