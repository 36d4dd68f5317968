-- Deliveries of one organization to one target form a queue. The scheduler looks only at the first delivery in each
-- queue.
ALTER TABLE delivery ADD COLUMN behind INTEGER NOT NULL DEFAULT 0;  -- 1: an earlier delivery about the same issue to the same channel is unfinished

DROP INDEX deliveryDue;
DROP INDEX deliveryUnderWay;
CREATE INDEX deliveryUnsettled ON delivery (issueId, channelType, channelTarget, seq) WHERE status IN ('pending', 'sending');
CREATE INDEX deliveryWaiting ON delivery (orgId, channelTarget, dueAt, seq) WHERE status = 'pending' AND behind = 0;
CREATE INDEX issueCapped ON issue (alertId) WHERE capReached = 1;

UPDATE delivery SET behind = EXISTS (
  SELECT 1 FROM delivery AS other
  WHERE other.issueId = delivery.issueId AND other.channelType = delivery.channelType
    AND other.channelTarget = delivery.channelTarget AND other.status IN ('pending', 'sending')
    AND (other.status = 'sending' OR other.seq < delivery.seq))
WHERE status = 'pending';

CREATE TRIGGER deliveryMade AFTER INSERT ON delivery WHEN NEW.status = 'pending' BEGIN
  UPDATE delivery SET behind = EXISTS (
    SELECT 1 FROM delivery AS other
    WHERE other.issueId = NEW.issueId AND other.channelType = NEW.channelType
      AND other.channelTarget = NEW.channelTarget AND other.status IN ('pending', 'sending') AND other.seq < NEW.seq)
  WHERE seq = NEW.seq;
END;

CREATE TRIGGER deliveryMoved AFTER UPDATE OF status ON delivery WHEN NEW.status <> OLD.status BEGIN
  UPDATE delivery SET behind = EXISTS (
    SELECT 1 FROM delivery AS other
    WHERE other.issueId = delivery.issueId AND other.channelType = delivery.channelType
      AND other.channelTarget = delivery.channelTarget AND other.status IN ('pending', 'sending')
      AND (other.status = 'sending' OR other.seq < delivery.seq))
  WHERE issueId = NEW.issueId AND channelType = NEW.channelType AND channelTarget = NEW.channelTarget
    AND status IN ('pending', 'sending') AND status = 'pending';
END;
