// What ExampleApp.swift uses of UIKit, for a compiler without the SDK of iOS.
// https://developer.apple.com/documentation/uikit/uiapplication

@_exported import Foundation

@MainActor open class UIResponder {
    public required init() {}
}

public struct UIBackgroundTaskIdentifier: Sendable, Equatable {
    public static let invalid = UIBackgroundTaskIdentifier()
}

@MainActor public protocol UIApplicationDelegate: AnyObject {
    init()
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool
}

extension UIApplicationDelegate {
    public static func main() { _ = Self() }
}

open class UIApplication: UIResponder {
    public struct LaunchOptionsKey: Hashable, Sendable {}

    public static let shared = UIApplication()
    public nonisolated static let didEnterBackgroundNotification = Notification.Name("didEnterBackground")

    public func beginBackgroundTask(
        expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier { .invalid }

    public func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {}
}
